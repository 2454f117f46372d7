"""A city's buses and trams: lines, stops, riders and incidents."""

from __future__ import annotations

from graftjax.demo.draw import Draw, months
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COLOURS, STREETS

CAUSES = ("signal fault", "vehicle breakdown", "driver shortage", "road works", "flooding", "collision")


def build() -> Domain:
    draw = Draw("transit")
    lines = [
        (f"{kind[0]}{i}", f"{draw.pick(STREETS)} – {draw.pick(STREETS)}", kind, draw.pick(COLOURS))
        for kind, count in (("Tram", 8), ("Bus", 26), ("Metro", 4), ("Ferry", 2))
        for i in range(1, count + 1)
    ]
    line_codes = [row[0] for row in lines]
    stops = [
        (
            f"S{7000 + 9 * i}",
            f"{street} Stop",
            draw.whole(1, 5),
            draw.real(53.2, 53.5, 5),
            draw.real(-6.5, -6.0, 5),
        )
        for i, street in enumerate(draw.sample(STREETS, 140))
    ]
    stop_ids = [row[0] for row in stops]
    riders = [
        (stop, month, draw.maybe(draw.whole(150, 64000), 0.02))
        for stop in stop_ids
        for month in months(2023, 2023)
    ]
    vehicles = [
        (
            400 + i,
            draw.pick(("Volvo B8", "Alstom Citadis", "Solaris Urbino", "Mercedes Citaro")),
            draw.whole(2004, 2023),
            draw.pick(("diesel", "electric", "hybrid")),
        )
        for i in range(110)
    ]
    incidents = [
        (i, draw.pick(line_codes), draw.date(2022, 2023), draw.pick(CAUSES), draw.whole(2, 190))
        for i in range(1, 301)
    ]
    boardings = source(
        "ridership",
        "stop_id, month, boardings",
        riders,
        "ridership_1, ridership_2, ridership_3, ridership_4, ridership_5, passenger_counts",
        {5: "halt, period, passengers"},
    )
    network = source("lines", "line_code, line_name, mode, colour", lines)
    sources = (
        network,
        source("stops", "stop_id, stop_name, fare_zone, latitude, longitude", stops),
        bridge("line_stops", "line_code, stop_id", draw.links(line_codes, stop_ids, 8, 16)),
        boardings,
        source("vehicles", "vehicle_no, model, built, drive", vehicles),
        bridge("depot_sheet", "vehicle_no, line_code", [(v[0], draw.pick(line_codes)) for v in vehicles]),
        source(
            "incidents",
            "incident_id, line_code, happened_on, cause, minutes_lost",
            incidents,
        ),
    )
    strays = (
        near_copy(boardings.pieces[0], "ridership_1_copy"),
        stray(
            "routes",
            "route_id, route_name, surface, length_km",
            [
                (
                    i,
                    f"{draw.pick(STREETS)} Cycleway",
                    draw.pick(("asphalt", "gravel", "paved")),
                    draw.real(0.4, 12, 1),
                )
                for i in range(1, 66)
            ],
        ),
        stray(
            "bus_stops_elsewhere",
            "stop_id, stop_name, shelter",
            [(i, f"{draw.pick(STREETS)} Shelter", draw.pick(("yes", "no"))) for i in range(1, 81)],
            "not-joinable",
        ),
    )
    return Domain("transit", sources, strays, QUERIES)


QUERIES = (
    query(
        "How many passengers boarded at stops of tram lines in June 2023?",
        "SELECT SUM(r.boardings) FROM ridership AS r WHERE r.month = '2023-06' AND r.stop_id IN "
        "(SELECT x.stop_id FROM line_stops AS x JOIN lines AS l ON x.line_code = l.line_code WHERE "
        "l.mode = 'Tram')",
        "ridership, line_stops, lines",
        (
            "Transit Line: id; type=tram",
            "Stop: id; line_id",
            "Passenger Count: stop_id; month=June 2023; boardings",
        ),
        ("Transit Line.id = Stop.line_id", "Stop.id = Passenger Count.stop_id"),
        (
            "Which lines are tram lines?",
            "Which stops do they serve?",
            "How many passengers boarded there in June 2023?",
        ),
    ),
    query(
        "On which metro services was most time lost because of flooding?",
        "SELECT l.line_name, SUM(i.minutes_lost) AS m FROM lines AS l JOIN incidents AS i ON "
        "l.line_code = i.line_code "
        "WHERE i.cause = 'flooding' AND l.mode = 'Metro' GROUP BY l.line_code, l.line_name ORDER BY m DESC",
        "lines, incidents",
        ("Service: id; name; mode=metro", "Disruption: service_id; reason=flooding; delay minutes"),
        ("Service.id = Disruption.service_id",),
        ("Which services are metro services?", "How many minutes were lost to flooding on each?"),
    ),
    query(
        "What share of the vehicles running on ferry or bus lines is electric?",
        "SELECT AVG(v.drive = 'electric') FROM vehicles AS v JOIN depot_sheet AS d ON v.vehicle_no = "
        "d.vehicle_no "
        "JOIN lines AS l ON d.line_code = l.line_code WHERE l.mode IN ('Bus', 'Ferry')",
        "vehicles, depot_sheet, lines",
        ("Vehicle: line_id; engine type=electric", "Line: id; mode=ferry|bus"),
        ("Vehicle.line_id = Line.id",),
        ("Which lines are ferry or bus lines?", "Which of their vehicles are electric?"),
    ),
)
