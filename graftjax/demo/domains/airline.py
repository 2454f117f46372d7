"""Airlines, airports, flights and their delays."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COMPANY_HEADS, COUNTRIES, EURO_CITIES, listed

IATA = listed(
    "DUB, ORK, LHR, LBA, EDI, CDG, LYS, TLS, MAD, VLC, LIS, OPO, MXP, BLQ, MUC, HAM, LEJ, VIE, ZRH, "
    "CPH, OSL, ARN, HEL, WAW, PRG, ATH"
)
MODELS = (
    ("Airbus A320", 180),
    ("Airbus A321neo", 220),
    ("Boeing 737-800", 189),
    ("Embraer E190", 100),
    ("ATR 72-600", 72),
    ("Boeing 787-9", 290),
)


def build() -> Domain:
    draw = Draw("airline")
    airports = [
        (code, f"{city} International Airport", city, country, draw.whole(2, 2100))
        for code, (city, country) in zip(IATA, EURO_CITIES, strict=True)
    ]
    heads = draw.sample(COMPANY_HEADS, 24)
    carriers = [
        (
            i,
            f"{head} {draw.pick(('Air', 'Airways', 'Airlines'))}",
            draw.maybe(draw.pick(("SkyBridge", "Meridian Alliance", "OpenWings")), 0.3),
            draw.pick(COUNTRIES),
        )
        for i, head in enumerate(heads, start=1)
    ]
    flights = []
    for i in range(300):
        carrier = draw.whole(1, 24)
        start, end = draw.sample(IATA, 2)
        prefix = heads[carrier - 1][:2].upper()
        flights.append((f"{prefix}{1000 + i}", carrier, start, end, draw.time(), draw.whole(210, 2900)))
    delays = [
        (
            draw.pick(flights)[0],
            draw.date(2023, 2023),
            max(0, draw.whole(-25, 150)),
            draw.maybe(draw.whole(-20, 160), 0.05),
        )
        for _ in range(700)
    ]
    aircraft = [
        (
            f"{draw.pick(('EI', 'G', 'D', 'F'))}-{draw.pick('ABCDEF')}{chr(65 + i // 26)}{chr(65 + i % 26)}",
            *draw.pick(MODELS),
            draw.whole(1999, 2023),
        )
        for i in range(130)
    ]
    airfields = source("airports", "iata, airport_name, city, country, elevation_ft", airports)
    sources = (
        airfields,
        source("carriers", "carrier_id, carrier_name, alliance, country", carriers),
        source(
            "flights",
            "flight_no, carrier_id, origin, destination, scheduled_dep, distance_km",
            flights,
            "flights_scheduled, flights_charter",
            {1: "flt, carrier, dep_airport, arr_airport, std, km"},
        ),
        source(
            "delays",
            "flight_no, fly_date, dep_delay_min, arr_delay_min",
            delays,
            "delays_jan_mar, delays_apr_jun, delays_jul_sep, delays_oct_dec",
        ),
        source("aircraft", "tail_no, model, seats, built", aircraft),
        bridge("fleet", "tail_no, carrier_id", [(row[0], draw.skewed(carriers)[0]) for row in aircraft]),
    )
    strays = (
        near_copy(airfields, "airport_reference", "code, airport, municipality, nation, elev"),
        stray(
            "routes",
            "route_id, origin, destination, grade, length_km",
            [
                (
                    i,
                    f"{draw.pick(EURO_CITIES)[0]} Trailhead",
                    f"{draw.pick(EURO_CITIES)[0]} Hut",
                    draw.pick(("easy", "moderate", "hard")),
                    draw.real(3, 28, 1),
                )
                for i in range(1, 61)
            ],
            "not-joinable",
        ),
        stray(
            "flights_of_stairs",
            "building, flight_no, steps, handrail",
            [
                (f"Block {draw.pick('ABCDEF')}", i, draw.whole(8, 18), draw.pick(("yes", "no")))
                for i in range(1, 41)
            ],
        ),
    )
    return Domain("airline", sources, strays, QUERIES)


QUERIES = (
    query(
        "What is the mean departure delay of each airline?",
        "SELECT c.carrier_name, AVG(d.dep_delay_min) FROM carriers AS c JOIN flights AS f ON "
        "c.carrier_id = f.carrier_id "
        "JOIN delays AS d ON f.flight_no = d.flight_no GROUP BY c.carrier_id, c.carrier_name",
        "carriers, flights, delays",
        ("Airline: id; name", "Flight: airline_id; departure delay"),
        ("Airline.id = Flight.airline_id",),
        ("Which airline operates each flight?", "How late did each flight depart?"),
    ),
    query(
        "Which airlines own at least one Boeing 787-9?",
        "SELECT DISTINCT c.carrier_name FROM carriers AS c JOIN fleet AS x ON c.carrier_id = x.carrier_id "
        "JOIN aircraft AS a ON x.tail_no = a.tail_no WHERE a.model = 'Boeing 787-9'",
        "carriers, fleet, aircraft",
        ("Airline: id; name", "Plane: airline_id; type=Boeing 787-9"),
        ("Airline.id = Plane.airline_id",),
        ("Which planes are Boeing 787-9?", "Which airlines own those planes?"),
    ),
    query(
        "How many flights start from airports in Ireland?",
        "SELECT COUNT(*) FROM flights AS f JOIN airports AS a ON f.origin = a.iata WHERE a.country = "
        "'Ireland'",
        "flights, airports",
        ("Airport: code; country=Ireland", "Flight: departure airport"),
        ("Airport.code = Flight.departure airport",),
        ("Which airports are in Ireland?", "How many flights start from them?"),
    ),
)
