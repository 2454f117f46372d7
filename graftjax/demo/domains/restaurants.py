"""Restaurants, their dishes, chefs and inspections."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import ADJECTIVES, NOUNS, STREETS, US_CITIES, listed

CUISINES = listed(
    "Italian, Thai, Mexican, Japanese, Ethiopian, Lebanese, Indian, French, Korean, Peruvian, Vietnamese"
)
DISHES = listed(
    "Margherita Pizza, Pad Thai, Carnitas Tacos, Tonkotsu Ramen, Doro Wat, Falafel Plate, Lamb Biryani, "
    "Coq au Vin, Bibimbap, Ceviche, Pho Bo, Mushroom Risotto, Green Curry, Mole Poblano, Miso "
    "Aubergine, Lentil Stew, Chicken Shawarma, Paneer Tikka, Onion Soup, Kimchi Stew, Lomo Saltado, "
    "Banh Mi, Tiramisu, Mango Sticky Rice"
)
ALLERGENS = listed("gluten, peanuts, milk, egg, fish, shellfish, soya, sesame, celery, mustard, nuts")


def build() -> Domain:
    draw = Draw("restaurants")
    cuisines = list(enumerate(CUISINES, start=1))
    venues = [
        (
            f"R{draw.whole(100, 999)}{i:03d}",
            f"The {a} {n}",
            draw.whole(1, 11),
            draw.pick(STREETS),
            draw.pick(US_CITIES),
            draw.maybe(draw.real(2.5, 5, 1), 0.07),
        )
        for i, (a, n) in enumerate(draw.sample([(a, n) for a in ADJECTIVES for n in NOUNS], 150))
    ]
    rids = [row[0] for row in venues]
    dishes = [(i, draw.pick(rids), draw.pick(DISHES), draw.real(6, 38)) for i in range(1, 481)]
    checks = []
    for i in range(420):
        score = max(0, draw.whole(-4, 45))
        grade = "A" if score < 14 else "B" if score < 28 else "C"
        checks.append(
            (f"INS{50000 + i}", draw.pick(rids), draw.date(2021, 2023), score, draw.maybe(grade, 0.05))
        )
    chefs = [(i, name, draw.whole(1, 35)) for i, name in enumerate(draw.people(170), start=1)]
    allergens = [(f"AL{i:02d}", name) for i, name in enumerate(ALLERGENS, start=1)]
    places = source("restaurants", "rid, restaurant, cuisine_id, street, city, rating", venues)
    sources = (
        places,
        source("cuisines", "cuisine_id, cuisine", cuisines),
        source(
            "dishes",
            "dish_id, rid, dish, price",
            dishes,
            "menu_regular, menu_specials",
            {1: "item, place, special, usd"},
        ),
        source(
            "inspections",
            "inspection, rid, inspected_on, score, grade",
            checks,
            "inspections_2021, inspections_2022, inspections_2023",
            by=lambda row: int(str(row[2])[:4]) - 2021,
        ),
        source("chefs", "chef_id, chef_name, years_experience", chefs),
        bridge("kitchen_posts", "chef_id, rid", [(c[0], draw.pick(rids)) for c in chefs]),
        source("allergens", "allergen_code, allergen", allergens),
        bridge(
            "dish_allergens",
            "dish_id, allergen_code",
            draw.links(list(range(1, 481)), [r[0] for r in allergens], 0, 3),
        ),
    )
    strays = (
        near_copy(places, "restaurants_directory_mirror"),
        stray(
            "orders",
            "order_id, table_no, waiter, total_usd",
            [
                (i, draw.whole(1, 30), draw.pick(chefs)[1].split()[0], draw.real(12, 240))
                for i in range(1, 141)
            ],
        ),
        stray(
            "chefs_knives",
            "item, brand, blade_cm, price_usd",
            [
                (i, draw.pick(("Kaito", "Solingen Works", "Laguiole")), draw.whole(9, 30), draw.real(25, 310))
                for i in range(1, 41)
            ],
        ),
    )
    return Domain("restaurants", sources, strays, QUERIES)


QUERIES = (
    query(
        "Which Thai or Mexican places got a C in a hygiene check?",
        "SELECT DISTINCT r.restaurant FROM restaurants AS r JOIN cuisines AS c ON r.cuisine_id = "
        "c.cuisine_id "
        "JOIN inspections AS i ON r.rid = i.rid WHERE c.cuisine IN ('Thai', 'Mexican') AND i.grade = 'C'",
        "restaurants, cuisines, inspections",
        ("Restaurant: id; name; cuisine=Thai|Mexican", "Hygiene Check: restaurant_id; grade=C"),
        ("Restaurant.id = Hygiene Check.restaurant_id",),
        ("Which places serve Thai or Mexican food?", "Which of them got a C in a hygiene check?"),
    ),
    query(
        "List meals that contain peanuts together with what they cost.",
        "SELECT d.dish, d.price FROM dishes AS d JOIN dish_allergens AS x ON d.dish_id = x.dish_id "
        "JOIN allergens AS a ON x.allergen_code = a.allergen_code WHERE a.allergen = 'peanuts'",
        "dishes, dish_allergens, allergens",
        ("Meal: name; cost; allergen=peanuts",),
        (),
        ("Which meals contain peanuts?", "What do those meals cost?"),
    ),
    query(
        "Who cooks in the best rated restaurant of Denver?",
        "SELECT h.chef_name FROM chefs AS h JOIN kitchen_posts AS k ON h.chef_id = k.chef_id "
        "JOIN restaurants AS r ON k.rid = r.rid WHERE r.city = 'Denver' AND r.rating = "
        "(SELECT MAX(q.rating) FROM restaurants AS q JOIN kitchen_posts AS p ON q.rid = p.rid WHERE "
        "q.city = 'Denver')",
        "chefs, kitchen_posts, restaurants",
        ("Cook: id; name; restaurant_id", "Restaurant: id; city=Denver; rating"),
        ("Cook.restaurant_id = Restaurant.id",),
        ("Which restaurant of Denver has the best rating?", "Who cooks there?"),
    ),
)
