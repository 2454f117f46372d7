"""Homes for sale: listings, districts, agents and sales."""

from __future__ import annotations

from graftjax.demo.draw import Draw, day_after
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COMPANY_HEADS, STREETS, listed

DISTRICTS = listed(
    "Ashford, Bellevue, Cathedral Hill, Docklands, Easton, Fairview, Grangetown, Holloway, Inverleith, "
    "Jericho, Kemptown, Leith Walk, Moseley, Northcote, Oakfield, Portland Square, Quayside, Roath, "
    "Stockbridge, Trinity"
)


def build() -> Domain:
    draw = Draw("property")
    districts = [
        (i, name, draw.whole(4000, 61000), draw.real(0.8, 14)) for i, name in enumerate(DISTRICTS, start=1)
    ]
    listings = [
        (
            f"L{81000 + 3 * i}",
            f"{draw.whole(1, 190)} {draw.pick(STREETS)}",
            draw.whole(1, 20),
            draw.whole(1, 6),
            draw.whole(95, 1450) * 1000,
            draw.date(2022, 2023),
            draw.maybe(draw.pick("ABCDEFG"), 0.12),
        )
        for i in range(480)
    ]
    agencies = [
        (f"AG{i:02d}", f"{head} Estates", draw.pick(STREETS))
        for i, head in enumerate(draw.sample(COMPANY_HEADS, 28), 1)
    ]
    agents = [
        (i, name, draw.pick(agencies)[0], draw.real(0.8, 2.5))
        for i, name in enumerate(draw.people(120), start=1)
    ]
    sold = draw.sample(listings, 260)
    sales = [
        (i, row[0], day_after(row[5], draw.whole(14, 240)), round(row[4] * draw.real(0.9, 1.08, 3), -2))
        for i, row in enumerate(sold, start=1)
    ]
    schools = [
        (
            f"SCH{i:03d}",
            f"{draw.pick(DISTRICTS)} {draw.pick(('Primary', 'Grammar', 'Academy'))}",
            draw.whole(1, 20),
            draw.whole(90, 1500),
        )
        for i in range(1, 81)
    ]
    homes = source(
        "listings",
        "listing_id, address, district_id, bedrooms, asking_price, listed_on, energy_rating",
        listings,
        "listings_flats, listings_houses, homes_for_sale",
        {2: "ref, street_address, district, beds, price_asked, on_market_since, epc"},
    )
    sources = (
        homes,
        source("districts", "district_id, district, population, area_km2", districts),
        source("agents", "agent_no, agent_name, agency_code, commission_percent", agents),
        source("agencies", "agency_code, agency, office", agencies),
        bridge("listing_agents", "listing_id, agent_no", [(h[0], draw.pick(agents)[0]) for h in listings]),
        source(
            "home_sales",
            "sale_no, listing_id, sold_on, sold_price",
            sales,
            "sales_2022, sales_2023, sales_2024",
            by=lambda row: int(str(row[2])[:4]) - 2022,
        ),
        source("schools", "school_code, school, district_id, pupils", schools),
    )
    strays = (
        near_copy(homes.pieces[1], "listings_houses_portal_feed"),
        stray(
            "secret_agents",
            "agent_no, code_name, novel, published",
            [
                (
                    i,
                    f"Agent {draw.pick(('Falcon', 'Heron', 'Otter', 'Lynx', 'Marten'))} {i}",
                    f"The {draw.pick(DISTRICTS)} File",
                    draw.whole(1953, 1999),
                )
                for i in range(1, 51)
            ],
        ),
        stray(
            "price_listings_scrap_metal",
            "listing_id, metal, price_per_tonne",
            [
                (i, draw.pick(("Copper", "Brass", "Lead", "Steel", "Aluminium")), draw.whole(90, 7800))
                for i in range(1, 61)
            ],
            "not-joinable",
        ),
    )
    return Domain("property", sources, strays, QUERIES)


QUERIES = (
    query(
        "What is the average asking price of three-bedroom homes in each neighbourhood?",
        "SELECT d.district, AVG(l.asking_price) FROM listings AS l JOIN districts AS d ON "
        "l.district_id = d.district_id "
        "WHERE l.bedrooms = 3 GROUP BY d.district_id, d.district",
        "listings, districts",
        ("Neighbourhood: id; name", "Home: neighbourhood_id; bedrooms=3; asking price"),
        ("Neighbourhood.id = Home.neighbourhood_id",),
        ("Which homes have three bedrooms?", "In which neighbourhood is each and what is its price?"),
    ),
    query(
        "Which realtor closed the highest total of sales, and for which firm does he or she work?",
        "SELECT a.agent_name, g.agency, SUM(s.sold_price) AS t FROM agents AS a JOIN agencies AS g "
        "ON a.agency_code = g.agency_code JOIN listing_agents AS x ON a.agent_no = x.agent_no "
        "JOIN home_sales AS s ON x.listing_id = s.listing_id GROUP BY a.agent_no, a.agent_name, g.agency "
        "ORDER BY t DESC LIMIT 1",
        "agents, agencies, listing_agents, home_sales",
        ("Realtor: id; name; firm_id", "Firm: id; name", "Sale: realtor_id; amount"),
        ("Realtor.firm_id = Firm.id", "Realtor.id = Sale.realtor_id"),
        ("What is the total of the sales of each realtor?", "For which firm does the best realtor work?"),
    ),
    query(
        "How many children go to school in Docklands?",
        "SELECT SUM(s.pupils) FROM schools AS s JOIN districts AS d ON s.district_id = d.district_id "
        "WHERE d.district = 'Docklands'",
        "schools, districts",
        ("School: area_id; number of children", "Area: id; name=Docklands"),
        ("School.area_id = Area.id",),
        ("Which schools are in Docklands?", "How many children go to each of them?"),
    ),
)
