"""An online shop: customers, orders, goods and their makers."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import COMPANY_HEADS, COUNTRIES, US_CITIES, listed

CATEGORIES = listed(
    "Kitchen, Garden Tools, Lighting, Bedding, Toys, Stationery, Bicycles, Camping, Pet Care, Bathroom, "
    "Storage, Headphones"
)
THINGS = listed(
    "Kettle, Trowel, Desk Lamp, Duvet, Puzzle, Notebook, Bike Pump, Tent, Dog Lead, Towel, Storage Box, "
    "Earbuds, Saucepan, Secateurs, Lantern, Pillow, Kite, Fountain Pen, Helmet, Sleeping Bag, Cat Tree, "
    "Soap Dish, Crate, Studio Headset"
)


def build() -> Domain:
    draw = Draw("retail")
    customers = []
    for i, name in enumerate(draw.people(320), start=1):
        email = f"{name.lower().replace(' ', '.')}@example.{draw.pick(('com', 'org', 'net'))}"
        customers.append((i, name, draw.maybe(email, 0.05), draw.pick(US_CITIES), draw.date(2015, 2023)))
    categories = list(enumerate(CATEGORIES, start=1))
    products = [
        (
            f"SKU-{draw.whole(10, 99)}{i:03d}",
            f"{draw.pick(COMPANY_HEADS)} {THINGS[i % 24]}",
            i % 12 + 1,
            draw.real(4, 260),
        )
        for i in range(150)
    ]
    skus = [row[0] for row in products]
    stores = [
        (f"ST{i:02d}", city, draw.date(1998, 2019), draw.whole(20, 400) * 10)
        for i, city in enumerate(US_CITIES, start=1)
    ]
    orders = [
        (i, draw.whole(1, 320), draw.date(2022, 2023), draw.maybe(draw.pick(stores)[0], 0.1))
        for i in range(1, 601)
    ]
    prices = {sku: price for sku, _, _, price in products}
    lines = []
    for number in range(1, 601):
        for sku in draw.sample(skus, draw.whole(1, 2)):
            lines.append((number, sku, draw.whole(1, 5), prices[sku]))
    suppliers = [
        (
            f"V-{100 + i}",
            f"{head} {draw.pick(('Trading', 'Supply Co', 'Imports', 'Wholesale'))}",
            draw.pick(COUNTRIES),
        )
        for i, head in enumerate(draw.sample(COMPANY_HEADS, 40))
    ]
    goods = source("products", "sku, product_name, category_id, list_price", products)
    sources = (
        source(
            "customers",
            "customer_id, customer_name, email, city, joined_on",
            customers,
            "customers_web, customers_shop",
            {1: "cust_no, full_name, mail, town, since"},
        ),
        source(
            "orders",
            "order_id, customer_id, order_date, store_code",
            orders,
            "orders_2022, orders_2023",
            by=lambda row: int(str(row[2])[:4]) - 2022,
        ),
        source(
            "order_lines",
            "order_id, sku, quantity, unit_price",
            lines,
            "order_lines_1, order_lines_2, basket_items",
            {2: "order_ref, article, qty, price_each"},
        ),
        goods,
        source("categories", "category_id, category", categories),
        source("stores", "store_code, city, opened_on, floor_area_m2", stores),
        source("suppliers", "supplier_code, company, country", suppliers),
        bridge("product_suppliers", "sku, supplier_code", draw.links(skus, [r[0] for r in suppliers], 1, 2)),
    )
    strays = (
        near_copy(goods, "product_catalogue_march"),
        stray(
            "departments",
            "DepartmentID, DepartmentName, manager",
            [
                (i, f"{name} Department", person)
                for i, (name, person) in enumerate(zip(CATEGORIES, draw.people(12), strict=True), start=1)
            ],
            "not-joinable",
        ),
        stray(
            "loyalty_club",
            "club_member, club_tier, points",
            [
                (f"LC{i:05d}", draw.pick(("Bronze", "Silver", "Gold")), draw.whole(0, 9000))
                for i in range(1, 161)
            ],
        ),
    )
    return Domain("retail", sources, strays, QUERIES)


QUERIES = (
    query(
        "What revenue did each product category bring in?",
        "SELECT c.category, SUM(l.quantity * l.unit_price) FROM order_lines AS l JOIN products AS p "
        "ON l.sku = p.sku "
        "JOIN categories AS c ON p.category_id = c.category_id GROUP BY c.category",
        "order_lines, products, categories",
        ("Product Category: id; name", "Product: id; category_id", "Sale: product_id; amount; price"),
        ("Product Category.id = Product.category_id", "Product.id = Sale.product_id"),
        (
            "Which category does each product belong to?",
            "How much of each product was sold and at what price?",
        ),
    ),
    query(
        "Which clients from Denver have bought a tent?",
        "SELECT DISTINCT k.customer_name FROM customers AS k JOIN orders AS o ON k.customer_id = "
        "o.customer_id "
        "JOIN order_lines AS l ON o.order_id = l.order_id JOIN products AS p ON l.sku = p.sku "
        "WHERE k.city = 'Denver' AND p.product_name LIKE '%Tent'",
        "customers, orders, order_lines, products",
        ("Client: id; name; city=Denver", "Purchase: client_id; product_id", "Product: id; name=tent"),
        ("Client.id = Purchase.client_id", "Purchase.product_id = Product.id"),
        ("Which clients live in Denver?", "Which products are tents?", "Who bought those products?"),
    ),
    query(
        "From which countries do the makers of our lighting articles come?",
        "SELECT DISTINCT s.country FROM suppliers AS s JOIN product_suppliers AS x ON "
        "s.supplier_code = x.supplier_code "
        "JOIN products AS p ON x.sku = p.sku JOIN categories AS c ON p.category_id = c.category_id "
        "WHERE c.category = 'Lighting'",
        "suppliers, product_suppliers, products, categories",
        ("Manufacturer: id; country", "Article: manufacturer_id; category=lighting"),
        ("Manufacturer.id = Article.manufacturer_id",),
        (
            "Which articles are in the lighting category?",
            "Who makes them, and in which country are the makers?",
        ),
    ),
)
