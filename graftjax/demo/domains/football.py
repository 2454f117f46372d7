"""Clubs, players and their points: the situation of the paper's Figure 4, and tables around it."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COUNTRIES, EURO_CITIES, listed

CLUBS = listed(
    "AIB, Leinster Rovers, Harbour Athletic, Northgate RFC, Old Wesleyans, Castle Park, Riverside "
    "United, Blackwater Town, Saints and Scholars, Lansdowne Wanderers, Greyfriars, Shannon Vale, "
    "Corinthian Casuals, Milltown Celtic, Abbey Rangers, Kingsbridge, Silver Strand, Foyle Harps, "
    "Galtee Stars, Burren City, Ballymore Swifts, Tolka Rovers, Suir Valley, Mourne Hotspur, Liffey "
    "Athletic, Glen Albion, Erne Olympic, Wexford Mariners, Clare Dragons, Slieve Thistle, Boyne Villa, "
    "Tara Legion, Dalriada, Kells Borough, Sligo Breakers, Moy Valley"
)
REGIONS = ("Leinster", "Munster", "Ulster", "Connacht")
POSITIONS = ("Goalkeeper", "Defender", "Midfielder", "Forward")


def build() -> Domain:
    draw = Draw("football")
    clubs = [(f"C{10 + i}", name, draw.pick(REGIONS), draw.whole(1880, 1995)) for i, name in enumerate(CLUBS)]
    club_ids = [row[0] for row in clubs]
    names = draw.people(340)
    players = [
        (
            f"PL{1000 + i}",
            name,
            draw.skewed(("Ireland", *COUNTRIES[1:])),
            draw.date(1985, 2004),
            draw.pick(POSITIONS),
        )
        for i, name in enumerate(names)
    ]
    player_ids = [row[0] for row in players]
    members = [
        (player, club_ids[0] if i < 22 else draw.pick(club_ids[1:])) for i, player in enumerate(player_ids)
    ]
    games = [
        (player, season, draw.whole(4, 28), max(0, draw.whole(-6, 64)))
        for player in player_ids
        for season in draw.sample((2019, 2020, 2021, 2022, 2023), draw.whole(2, 4))
    ]
    grounds = [
        (
            f"G-{i:02d}",
            f"{draw.pick(names).split()[1]} {draw.pick(('Park', 'Stadium', 'Field', 'Oval'))}",
            draw.pick(EURO_CITIES)[0],
            draw.whole(12, 520) * 100,
        )
        for i in range(1, 41)
    ]
    transfers = [
        (
            i,
            draw.pick(names),
            *draw.sample(CLUBS, 2),
            draw.whole(5, 900) * 1000,
            draw.date(2018, 2023),
        )
        for i in range(1, 261)
    ]
    register = source("clubs", "Club ID, Club_Name, Region, Start_Year", clubs)
    squad = source("players", "Player_ID, Full_Name, Nationality, Birth_Date, Position", players)
    sources = (
        register,
        bridge("player_club", "Player_ID, Club ID", members),
        source("game_records", "Player_ID, Season, Apps, Points", games, "game_records_1, game_records_2"),
        squad,
        source("stadiums", "Stadium_Code, Stadium, City, Capacity", grounds),
        bridge("club_grounds", "Club ID, Stadium_Code", [(c, draw.pick(grounds)[0]) for c in club_ids]),
        source(
            "transfers",
            "transfer_no, Player_Name, From_Club, To_Club, Fee_EUR, Transfer_Date",
            transfers,
            "transfers_winter, deals_summer",
            {1: "deal, player, seller, buyer, fee, signed_on"},
        ),
    )
    strays = (
        near_copy(squad, "players_squad_list", "player, name, country, born, role"),
        stray(
            "clubs_nightlife",
            "Club ID, Club_Name, Music, Entry_EUR",
            [
                (
                    i,
                    f"Club {draw.pick(names).split()[1]}",
                    draw.pick(("House", "Techno", "Salsa", "Jazz")),
                    draw.whole(5, 30),
                )
                for i in range(1, 46)
            ],
            "not-joinable",
        ),
        stray(
            "chess_club_points",
            "player_no, opening, Points",
            [
                (i, draw.pick(("Sicilian", "French", "Caro-Kann", "Reti", "Dutch")), draw.whole(0, 24) / 2)
                for i in range(1, 91)
            ],
        ),
    )
    return Domain("football", sources, strays, QUERIES)


QUERIES = (
    query(
        "What is the average points of players from the club with name 'AIB'?",
        'SELECT AVG(g.Points) FROM clubs AS c JOIN player_club AS m ON c."Club ID" = m."Club ID" '
        "JOIN game_records AS g ON m.Player_ID = g.Player_ID WHERE c.Club_Name = 'AIB'",
        "clubs, player_club, game_records",
        ("Club: id; name=AIB", "Player: id; club_id", "Match: player_id; points"),
        ("Club.id = Player.club_id", "Player.id = Match.player_id"),
        ("Which club has the name 'AIB'?", "What points did the players of that club score?"),
        tag="fig4",
    ),
    query(
        "Which Irish players have scored more than 120 points over their career?",
        "SELECT p.Full_Name, SUM(g.Points) FROM players AS p JOIN game_records AS g ON p.Player_ID = "
        "g.Player_ID "
        "WHERE p.Nationality = 'Ireland' GROUP BY p.Player_ID, p.Full_Name HAVING SUM(g.Points) > 120",
        "players, game_records",
        ("Player: id; name; nationality=Irish", "Score: player_id; points"),
        ("Player.id = Score.player_id",),
        ("Which players are Irish?", "How many points has each player scored in total?"),
    ),
    query(
        "How many spectators fit into the home ground of Northgate RFC?",
        'SELECT s.Capacity FROM clubs AS c JOIN club_grounds AS h ON c."Club ID" = h."Club ID" '
        "JOIN stadiums AS s ON h.Stadium_Code = s.Stadium_Code WHERE c.Club_Name = 'Northgate RFC'",
        "clubs, club_grounds, stadiums",
        ("Team: name=Northgate RFC; home_ground_id", "Venue: id; spectator capacity"),
        ("Team.home_ground_id = Venue.id",),
        ("Which ground is the home of Northgate RFC?", "What is the capacity of that ground?"),
    ),
    query(
        "For each province, how much have its clubs spent on buying players since 2021?",
        "SELECT c.Region, SUM(t.Fee_EUR) FROM clubs AS c JOIN transfers AS t ON c.Club_Name = t.To_Club "
        "WHERE t.Transfer_Date >= '2021-01-01' GROUP BY c.Region",
        "clubs, transfers",
        ("Club: id; name; province", "Signing: buying_club; price; date=2021"),
        ("Club.name = Signing.buying_club",),
        ("In which province is each club?", "What did each club pay for signings since 2021?"),
    ),
)
