"""Films, those who made them, and what they earned."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import ADJECTIVES, COUNTRIES, NOUNS, listed

GENRES = listed(
    "Drama, Comedy, Thriller, Documentary, Horror, Romance, Science Fiction, Western, Animation, Musical"
)
TERRITORIES = ("Japan", "France", "Brazil", "Germany", "United Kingdom", "Canada", "India")


def build() -> Domain:
    draw = Draw("film")
    titles = draw.sample([f"{a} {n}" for a in ADJECTIVES for n in NOUNS], 220)
    films = [
        (i, title, draw.whole(1965, 2023), draw.whole(74, 189), draw.maybe(draw.real(3, 9.5, 1), 0.06))
        for i, title in enumerate(titles, start=1)
    ]
    film_ids = [row[0] for row in films]
    actors = [
        (f"nm{60000 + 17 * i}", name, draw.whole(1935, 2004), draw.pick(COUNTRIES))
        for i, name in enumerate(draw.people(240))
    ]
    directors = [(f"dr{100 + i}", name, draw.pick(COUNTRIES)) for i, name in enumerate(draw.people(80))]
    genres = list(enumerate(GENRES, start=1))
    gross = [
        (film, territory, draw.whole(20, 90000) * 1000)
        for film in film_ids
        for territory in draw.sample(TERRITORIES, draw.whole(1, 4))
    ]
    cinemas = [
        (
            f"CIN{i:03d}",
            f"{draw.pick(('Odeon', 'Rex', 'Lumière', 'Regal', 'Palace', 'Astor'))} {draw.pick(NOUNS)}",
            draw.pick(COUNTRIES),
            draw.whole(1, 18),
        )
        for i in range(1, 61)
    ]
    shows = [
        (draw.pick(cinemas)[0], draw.pick(film_ids), draw.date(2023, 2023), draw.time(), draw.whole(0, 320))
        for _ in range(420)
    ]
    earned = source(
        "box_office",
        "film_id, territory, gross_usd",
        gross,
        "box_office_weekly, takings",
        {1: "movie, country, revenue"},
    )
    sources = (
        source(
            "films",
            "film_id, title, release_year, runtime_min, rating",
            films,
        ),
        source("actors", "actor_id, actor_name, birth_year, country", actors),
        bridge(
            "film_cast",
            "film_id, actor_id",
            draw.links(film_ids, [r[0] for r in actors], 2, 4),
            "cast_part1, cast_part2",
        ),
        source("directors", "director_id, director_name, country", directors),
        bridge("directed_by", "film_id, director_id", [(f, draw.pick(directors)[0]) for f in film_ids]),
        source("genres", "genre_id, genre", genres),
        bridge("film_genres", "film_id, genre_id", draw.links(film_ids, [r[0] for r in genres], 1, 2)),
        earned,
        source("cinemas", "cinema_code, cinema, country, screens", cinemas),
        source(
            "screenings",
            "cinema_code, film_id, show_date, show_time, tickets",
            shows,
        ),
    )
    strays = (
        near_copy(earned.pieces[0], "box_office_dump"),
        stray(
            "film_stock_prices",
            "film_id, stock, format_mm, price_eur",
            [
                (
                    i,
                    draw.pick(("Colour 200", "Mono 400", "Tungsten 500")),
                    draw.pick((8, 16, 35)),
                    draw.real(9, 140),
                )
                for i in range(1, 41)
            ],
        ),
        stray(
            "directors_of_companies",
            "director_id, director_name, company_no, appointed",
            [
                (f"OFF{i:04d}", name, draw.whole(100000, 999999), draw.date(2001, 2022))
                for i, name in enumerate(draw.people(100), start=1)
            ],
            "not-joinable",
        ),
    )
    return Domain("film", sources, strays, QUERIES)


QUERIES = (
    query(
        "Which actors played in horror movies released after 2010?",
        "SELECT DISTINCT a.actor_name FROM actors AS a JOIN film_cast AS k ON a.actor_id = k.actor_id "
        "JOIN films AS f ON k.film_id = f.film_id JOIN film_genres AS x ON f.film_id = x.film_id "
        "JOIN genres AS g ON x.genre_id = g.genre_id WHERE g.genre = 'Horror' AND f.release_year > 2010",
        "actors, film_cast, films, film_genres, genres",
        ("Actor: id; name", "Movie: id; actor_id; genre=horror; release year=2010"),
        ("Actor.id = Movie.actor_id",),
        ("Which movies are horror movies released after 2010?", "Which actors played in them?"),
    ),
    query(
        "How much money did the films of each filmmaker make worldwide?",
        "SELECT d.director_name, SUM(b.gross_usd) FROM directors AS d JOIN directed_by AS x "
        "ON d.director_id = x.director_id JOIN box_office AS b ON x.film_id = b.film_id "
        "GROUP BY d.director_id, d.director_name",
        "directors, directed_by, box_office",
        ("Filmmaker: id; name", "Film: filmmaker_id; worldwide earnings"),
        ("Filmmaker.id = Film.filmmaker_id",),
        ("Which films did each filmmaker make?", "How much did each film earn?"),
    ),
    query(
        "What are the average running time and rating of documentaries?",
        "SELECT AVG(f.runtime_min), AVG(f.rating) FROM films AS f JOIN film_genres AS x ON f.film_id "
        "= x.film_id "
        "JOIN genres AS g ON x.genre_id = g.genre_id WHERE g.genre = 'Documentary'",
        "films, film_genres, genres",
        ("Movie: running time; rating; genre_id", "Genre: id; name=documentary"),
        ("Movie.genre_id = Genre.id",),
        ("Which movies are documentaries?", "What are their running times and ratings?"),
    ),
    query(
        "Which movie theatre sold the most tickets?",
        "SELECT c.cinema, SUM(s.tickets) AS n FROM cinemas AS c JOIN screenings AS s ON "
        "c.cinema_code = s.cinema_code "
        "GROUP BY c.cinema_code, c.cinema ORDER BY n DESC LIMIT 1",
        "cinemas, screenings",
        ("Movie Theatre: id; name", "Show: theatre_id; tickets sold"),
        ("Movie Theatre.id = Show.theatre_id",),
        ("How many tickets did each theatre sell?",),
    ),
)
