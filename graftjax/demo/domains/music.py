"""Musicians, albums, tracks and concerts."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import ADJECTIVES, COUNTRIES, EURO_CITIES, NOUNS

STYLES = ("Jazz", "Folk", "Indie Rock", "Electronic", "Classical", "Hip Hop", "Soul")


def build() -> Domain:
    draw = Draw("music")
    bands = draw.sample([f"{a} {n}s" for a in ADJECTIVES for n in NOUNS], 110)
    artists = [
        (i, band, draw.pick(COUNTRIES), draw.pick(STYLES), draw.whole(1968, 2020))
        for i, band in enumerate(bands, 1)
    ]
    labels = [
        (f"LB{i:02d}", f"{draw.pick(NOUNS)} Records {i}", draw.pick(EURO_CITIES)[0]) for i in range(1, 31)
    ]
    albums = [
        (
            f"ALB{1000 + 7 * i}",
            f"{draw.pick(ADJECTIVES)} {draw.pick(NOUNS)}",
            draw.whole(1, 110),
            draw.whole(1971, 2023),
        )
        for i in range(220)
    ]
    album_codes = [row[0] for row in albums]
    tracks = [
        (
            i,
            f"{draw.pick(NOUNS)} {draw.pick(('Song', 'Blues', 'Waltz', 'at Dawn', 'Revisited'))}",
            draw.pick(album_codes),
            draw.whole(95, 610),
        )
        for i in range(1, 701)
    ]
    gigs = [
        (
            f"GIG{3000 + i}",
            draw.whole(1, 110),
            draw.pick(EURO_CITIES)[0],
            draw.date(2022, 2023),
            draw.real(12, 95),
        )
        for i in range(240)
    ]
    pressed = source(
        "tracks",
        "track_id, track, album_code, seconds",
        tracks,
        "tracks_a, songs_added",
        {1: "song_no, song, record, duration_s"},
    )
    sources = (
        source("artists", "artist_id, artist, country, style, formed", artists),
        source("labels", "label_code, label, city", labels),
        source("albums", "album_code, album, artist_id, released", albums),
        bridge("album_labels", "album_code, label_code", [(a, draw.pick(labels)[0]) for a in album_codes]),
        pressed,
        source("concerts", "concert_code, artist_id, city, held_on, ticket_eur", gigs),
    )
    strays = (
        near_copy(pressed.pieces[0], "tracks_a_final"),
        stray(
            "shipping_labels",
            "label_code, parcel, weight_kg, city",
            [
                (f"SL{i:05d}", draw.whole(100000, 999999), draw.real(0.1, 25), draw.pick(EURO_CITIES)[0])
                for i in range(1, 101)
            ],
            "not-joinable",
        ),
        stray(
            "race_tracks",
            "track_id, track, laps, surface",
            [
                (
                    i,
                    f"{draw.pick(EURO_CITIES)[0]} Ring {i}",
                    draw.whole(20, 78),
                    draw.pick(("asphalt", "dirt")),
                )
                for i in range(1, 41)
            ],
        ),
    )
    return Domain("music", sources, strays, QUERIES)


QUERIES = (
    query(
        "Which record companies published jazz bands?",
        "SELECT DISTINCT l.label FROM labels AS l JOIN album_labels AS x ON l.label_code = x.label_code "
        "JOIN albums AS b ON x.album_code = b.album_code JOIN artists AS a ON b.artist_id = "
        "a.artist_id WHERE a.style = 'Jazz'",
        "labels, album_labels, albums, artists",
        ("Record Company: id; name", "Band: company_id; genre=jazz"),
        ("Record Company.id = Band.company_id",),
        ("Which bands play jazz?", "Which record companies published them?"),
    ),
    query(
        "What is the longest song by a Japanese group?",
        "SELECT t.track, t.seconds FROM tracks AS t JOIN albums AS b ON t.album_code = b.album_code "
        "JOIN artists AS a ON b.artist_id = a.artist_id WHERE a.country = 'Japan' ORDER BY t.seconds "
        "DESC LIMIT 1",
        "tracks, albums, artists",
        ("Group: id; country=Japan", "Song: group_id; title; length"),
        ("Group.id = Song.group_id",),
        ("Which groups come from Japan?", "How long is each of their songs?"),
    ),
    query(
        "List the dates and prices of shows held in Vienna.",
        "SELECT held_on, ticket_eur FROM concerts WHERE city = 'Vienna'",
        "concerts",
        ("Show: date; price; town=Vienna",),
        (),
        ("Which shows were held in Vienna?",),
    ),
)
