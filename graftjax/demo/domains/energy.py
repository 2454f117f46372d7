"""Power plants, their owners, output and emissions."""

from __future__ import annotations

from graftjax.demo.draw import Draw, months
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COMPANY_HEADS, STATES, STREETS

FUELS = ("Wind", "Solar", "Natural Gas", "Coal", "Nuclear", "Hydro", "Biomass")


def build() -> Domain:
    draw = Draw("energy")
    operators = [
        (i, f"{head} {draw.pick(('Power', 'Energy', 'Utilities', 'Renewables'))}", draw.pick(STATES))
        for i, head in enumerate(draw.sample(COMPANY_HEADS, 36), start=1)
    ]
    plants = [
        (
            f"PWR{i:03d}",
            f"{draw.pick(STREETS).split()[0]} {draw.pick(('Point', 'Ridge', 'Creek', 'Plains'))}",
            draw.whole(1, 36),
            draw.pick(FUELS),
            draw.real(12, 1400, 1),
            draw.pick(STATES),
            draw.maybe(draw.whole(1962, 2022), 0.05),
        )
        for i in range(1, 91)
    ]
    output = [
        (plant[0], month, draw.real(0, plant[4] * 0.6, 1)) for plant in plants for month in months(2023, 2023)
    ]
    emitted = [
        (plant[0], year, draw.whole(1200, 900000))
        for plant in plants
        if plant[3] in ("Natural Gas", "Coal", "Biomass")
        for year in range(2018, 2024)
    ]
    substations = [
        (f"SUB-{chr(65 + i % 26)}{i:02d}", f"{draw.pick(STREETS)} Substation", draw.pick((110, 220, 380)))
        for i in range(60)
    ]
    outages = [
        (i, draw.pick(substations)[0], draw.date(2022, 2023), draw.real(0.1, 30, 1), draw.whole(20, 42000))
        for i in range(1, 161)
    ]
    sites = source(
        "power_plants", "plant_code, plant_name, operator_id, fuel, capacity_mw, state, commissioned", plants
    )
    generated = source(
        "generation",
        "plant_code, month, output_mwh",
        output,
        "gen_north, gen_south, gen_east",
        {1: "plant, period, MWh"},
    )
    sources = (
        sites,
        source("operators", "operator_id, company, head_office_state", operators),
        generated,
        source("emissions", "plant_code, year, co2_tonnes", emitted),
        source("substations", "substation_id, substation, voltage_kv", substations),
        bridge(
            "grid_links",
            "plant_code, substation_id",
            draw.links([p[0] for p in plants], [s[0] for s in substations], 1, 3),
        ),
        source(
            "outages",
            "outage_id, substation_id, started_on, hours, customers_hit",
            outages,
        ),
    )
    strays = (
        near_copy(generated.pieces[2], "gen_east_resend"),
        stray(
            "plants_nursery",
            "plant_code, plant_name, height_cm, price",
            [
                (
                    f"NUR{i:03d}",
                    draw.pick(("Lavender", "Boxwood", "Hydrangea", "Fern", "Japanese Maple")),
                    draw.whole(10, 220),
                    draw.real(3, 120),
                )
                for i in range(1, 81)
            ],
            "not-joinable",
        ),
        stray(
            "energy_drinks",
            "product, caffeine_mg, sugar_g, price",
            [
                (f"{h} Boost", draw.whole(30, 160), draw.real(0, 12, 1), draw.real(0.9, 3.5))
                for h in COMPANY_HEADS[:30]
            ],
        ),
    )
    return Domain("energy", sources, strays, QUERIES)


QUERIES = (
    query(
        "How much electricity did wind farms in Texas or Ohio produce in 2023?",
        "SELECT SUM(g.output_mwh) FROM power_plants AS p JOIN generation AS g ON p.plant_code = g.plant_code "
        "WHERE p.fuel = 'Wind' AND p.state IN ('Texas', 'Ohio') AND g.month LIKE '2023%'",
        "power_plants, generation",
        (
            "Wind Farm: id; energy source=wind; state=Texas|Ohio",
            "Production: plant_id; year=2023; electricity",
        ),
        ("Wind Farm.id = Production.plant_id",),
        ("Which plants are wind farms in Texas or Ohio?", "How much electricity did they produce in 2023?"),
    ),
    query(
        "Rank the energy companies by the carbon dioxide that their coal stations gave off since 2020.",
        "SELECT o.company, SUM(e.co2_tonnes) AS t FROM operators AS o JOIN power_plants AS p "
        "ON o.operator_id = p.operator_id JOIN emissions AS e ON p.plant_code = e.plant_code "
        "WHERE p.fuel = 'Coal' AND e.year >= 2020 GROUP BY o.operator_id, o.company ORDER BY t DESC",
        "operators, power_plants, emissions",
        (
            "Energy Company: id; name",
            "Station: id; company_id; fuel=coal",
            "Carbon Emission: station_id; year=2020; amount",
        ),
        ("Energy Company.id = Station.company_id", "Station.id = Carbon Emission.station_id"),
        (
            "Which stations burn coal and who owns them?",
            "How much carbon dioxide did each give off since 2020?",
        ),
    ),
    query(
        "Which nuclear plants were affected by a blackout of more than 20 hours?",
        "SELECT DISTINCT p.plant_name FROM power_plants AS p JOIN grid_links AS x ON p.plant_code = "
        "x.plant_code "
        "JOIN outages AS o ON x.substation_id = o.substation_id WHERE p.fuel = 'Nuclear' AND o.hours > 20",
        "power_plants, grid_links, outages",
        ("Nuclear Plant: id; name; type=nuclear", "Blackout: plant_id; duration=20 hours"),
        ("Nuclear Plant.id = Blackout.plant_id",),
        ("Which plants are nuclear?", "Which blackouts lasted more than 20 hours?"),
    ),
)
