"""Weather stations, air quality sensors and rivers."""

from __future__ import annotations

from graftjax.demo.draw import Draw, day_after
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import STREETS, listed

COUNTIES = listed(
    "Antrim, Armagh, Carlow, Cavan, Clare, Cork, Derry, Donegal, Down, Dublin, Fermanagh, Galway, "
    "Kerry, Kildare, Kilkenny, Laois, Leitrim, Limerick, Longford, Louth, Mayo, Meath, Monaghan, Offaly"
)
RIVERS = listed(
    "Shannon, Liffey, Barrow, Nore, Suir, Blackwater, Lee, Corrib, Moy, Erne, Boyne, Slaney, Bann, Lagan"
)


def build() -> Domain:
    draw = Draw("weather")
    stations = [
        (
            f"039{i:02d}",
            f"{draw.pick(COUNTIES)} {draw.pick(('Airport', 'Observatory', 'Farm', 'Lighthouse'))} {i}",
            draw.real(51.4, 55.3, 3),
            draw.real(-10.4, -5.6, 3),
            draw.whole(2, 420),
        )
        for i in range(1, 49)
    ]
    codes = [row[0] for row in stations]
    days = [day_after("2023-01-01", 17 * i) for i in range(21)]
    observed = []
    for code in codes:
        for day in days:
            low = draw.near(6, 5, 1)
            observed.append(
                (code, day, round(low + draw.real(2, 11, 1), 1), low, draw.maybe(draw.real(0, 31, 1), 0.04))
            )
    counties = [(i, name, draw.whole(31, 1450) * 1000) for i, name in enumerate(COUNTIES, start=1)]
    sensors = [
        (
            f"AQ-{i:03d}",
            f"{draw.pick(STREETS)}",
            draw.pick(("roadside", "background", "industrial")),
            draw.whole(1, 24),
        )
        for i in range(1, 61)
    ]
    readings = [
        (sensor[0], f"2023-{month:02d}", draw.near(11, 8, 1), draw.maybe(draw.near(24, 18, 1), 0.05))
        for sensor in sensors
        for month in range(1, 13)
    ]
    rivers = [(i, f"River {name}", draw.whole(60, 360)) for i, name in enumerate(RIVERS, start=1)]
    gauges = [
        (f"GA{200 + i}", draw.whole(1, 14), f"{draw.pick(STREETS).split()[0]} Weir", draw.real(0.8, 5.5))
        for i in range(50)
    ]
    floods = [
        (i, draw.pick(gauges)[0], draw.date(2015, 2023), draw.real(1, 7), draw.whole(0, 340))
        for i in range(1, 121)
    ]
    sites = source("stations", "wmo_id, station_name, latitude, longitude, elevation_m", stations)
    sources = (
        sites,
        source(
            "observations",
            "wmo_id, obs_date, max_temp_c, min_temp_c, rain_mm",
            observed,
            "obs_part_1, obs_part_2, obs_part_3, daily_climate",
            {3: "station, day, tmax, tmin, precipitation"},
        ),
        source("counties", "county_id, county, population", counties),
        bridge("station_counties", "wmo_id, county_id", [(c, draw.whole(1, 24)) for c in codes]),
        source("air_sensors", "sensor_id, street, site_type, county_id", sensors),
        source(
            "air_readings",
            "sensor_id, month, pm25, no2",
            readings,
        ),
        source("rivers", "river_id, river, length_km", rivers),
        source("gauges", "gauge_id, river_id, location, alert_level_m", gauges),
        source("floods", "flood_id, gauge_id, flood_date, peak_m, homes_affected", floods),
    )
    strays = (
        near_copy(sites, "met_sites", "id, site, lat, lon, altitude"),
        stray(
            "stations",
            "station_no, station_name, platforms, opened",
            [
                (
                    i,
                    f"{draw.pick(STREETS).split()[0]} Junction {i}",
                    draw.whole(1, 14),
                    draw.whole(1844, 1999),
                )
                for i in range(1, 61)
            ],
            "not-joinable",
        ),
        stray(
            "weather_app_reviews",
            "review_no, stars, comment",
            [
                (
                    i,
                    draw.whole(1, 5),
                    draw.pick(("Rain radar is late", "Lovely maps", "Too many ads", "Temperature was right")),
                )
                for i in range(1, 71)
            ],
        ),
    )
    return Domain("weather", sources, strays, QUERIES)


QUERIES = (
    query(
        "How much rain fell on average per day in County Kerry or Cork?",
        "SELECT c.county, AVG(o.rain_mm) FROM observations AS o JOIN station_counties AS x ON "
        "o.wmo_id = x.wmo_id "
        "JOIN counties AS c ON x.county_id = c.county_id WHERE c.county IN ('Kerry', 'Cork') GROUP "
        "BY c.county",
        "observations, station_counties, counties",
        ("County: id; name=Kerry|Cork", "Rainfall: county_id; date; amount"),
        ("County.id = Rainfall.county_id",),
        ("Which measuring sites lie in Kerry or Cork?", "How much rain fell there per day?"),
    ),
    query(
        "What was the hottest temperature at a site higher than 300 metres?",
        "SELECT MAX(o.max_temp_c) FROM observations AS o JOIN stations AS s ON o.wmo_id = s.wmo_id "
        "WHERE s.elevation_m > 300",
        "observations, stations",
        ("Measuring Site: id; altitude=300", "Temperature: site_id; maximum"),
        ("Measuring Site.id = Temperature.site_id",),
        ("Which sites are higher than 300 metres?", "What is the highest temperature measured there?"),
    ),
    query(
        "Which counties have fine dust levels above 10 at roadside sensors on average?",
        "SELECT c.county, AVG(r.pm25) FROM counties AS c JOIN air_sensors AS s ON c.county_id = s.county_id "
        "JOIN air_readings AS r ON s.sensor_id = r.sensor_id WHERE s.site_type = 'roadside' "
        "GROUP BY c.county_id, c.county HAVING AVG(r.pm25) > 10",
        "counties, air_sensors, air_readings",
        (
            "County: id; name",
            "Sensor: id; county_id; location type=roadside",
            "Measurement: sensor_id; fine dust level=10",
        ),
        ("County.id = Sensor.county_id", "Sensor.id = Measurement.sensor_id"),
        (
            "Which sensors stand at the roadside?",
            "What fine dust levels did they measure?",
            "In which counties are they?",
        ),
    ),
    query(
        "How many houses were hit by floods of the River Shannon?",
        "SELECT SUM(f.homes_affected) FROM floods AS f JOIN gauges AS g ON f.gauge_id = g.gauge_id "
        "JOIN rivers AS r ON g.river_id = r.river_id WHERE r.river = 'River Shannon'",
        "floods, gauges, rivers",
        ("River: id; name=River Shannon", "Flood: river_id; number of houses hit"),
        ("River.id = Flood.river_id",),
        ("Which floods happened on the River Shannon?", "How many houses did each of them hit?"),
    ),
)
