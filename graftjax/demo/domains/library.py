"""A city library: books, authors, branches and loans."""

from __future__ import annotations

from graftjax.demo.draw import Draw, day_after
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import ADJECTIVES, COUNTRIES, NOUNS, listed

BRANCHES = listed(
    "Central, Eastside, Harbour Road, Hillcrest, Kingsway, Lakeview, Millfield, Newtown, Northbank, Old "
    "Quay, Parkside, Queen's Cross, Riverdale, Southgate, Westbury"
)
PUBLISHERS = (
    "Lantern House",
    "Bluebell Press",
    "Meridian Books",
    "Old Mill Editions",
    "Quarto North",
    "Saltmarsh",
)


def build() -> Domain:
    draw = Draw("library")
    branches = [
        (i, f"{name} Library", draw.pick(("North", "South", "East", "West")))
        for i, name in enumerate(BRANCHES, 1)
    ]
    authors = [
        (i, name, draw.whole(1901, 1992), draw.pick(COUNTRIES))
        for i, name in enumerate(draw.people(160), start=1)
    ]
    titles = draw.sample([f"The {a} {n}" for a in ADJECTIVES for n in NOUNS], 260)
    books = [
        (
            f"978-{draw.whole(0, 9)}-{draw.whole(100, 999)}-{40000 + 13 * i}-{draw.whole(0, 9)}",
            title,
            draw.maybe(draw.whole(1948, 2023), 0.04),
            draw.pick(PUBLISHERS),
        )
        for i, title in enumerate(titles)
    ]
    isbns = [row[0] for row in books]
    copies = [
        (
            f"B{300000 + 11 * i}",
            draw.pick(isbns),
            draw.whole(1, 15),
            f"{draw.pick('ABCDEFGH')}{draw.whole(1, 40)}",
        )
        for i in range(480)
    ]
    members = [
        (f"LM-{4000 + 3 * i}", name, draw.whole(1940, 2015), draw.pick(("adult", "adult", "child", "senior")))
        for i, name in enumerate(draw.people(230))
    ]
    loans = []
    for i in range(1, 701):
        out = draw.date(2023, 2023)
        back = draw.maybe(day_after(out, draw.whole(1, 45)), 0.1)
        loans.append((i, draw.pick(copies)[0], draw.skewed(members)[0], out, day_after(out, 21), back))
    staff = [
        (i, name, draw.whole(1, 15), draw.pick(("Librarian", "Assistant", "Archivist")))
        for i, name in enumerate(draw.people(64), 1)
    ]
    catalogue = source(
        "books",
        "isbn, title, published, publisher",
        books,
        "books_fiction, books_new_stock",
        {1: "ISBN13, book_title, year, imprint"},
    )
    sources = (
        source("branches", "branch_id, branch, borough", branches),
        source("authors", "author_id, author_name, birth_year, nationality", authors),
        catalogue,
        bridge("book_authors", "isbn, author_id", draw.links(isbns, [r[0] for r in authors], 1, 2)),
        source("copies", "barcode, isbn, branch_id, shelf", copies),
        source("members", "card_no, member_name, birth_year, membership", members),
        source(
            "loans",
            "loan_id, barcode, card_no, lent_on, due_on, returned_on",
            loans,
            "loans_1, loans_2, loans_3, loans_4",
        ),
        source("staff", "staff_no, staff_name, branch_id, job", staff),
    )
    strays = (
        near_copy(catalogue.pieces[0], "books_fiction_snapshot"),
        stray(
            "members_of_parliament",
            "member_no, member_name, constituency, elected",
            [
                (
                    i,
                    name,
                    f"{draw.pick(BRANCHES)} {draw.pick(('North', 'South', 'Central'))}",
                    draw.whole(1997, 2021),
                )
                for i, name in enumerate(draw.people(90), start=1)
            ],
            "not-joinable",
        ),
        stray(
            "loans_mortgage_rates",
            "loan_id, bank, fixed_years, rate_percent",
            [
                (
                    i,
                    draw.pick(("Harbour Bank", "First Union", "Mutual Trust")),
                    draw.pick((2, 3, 5, 10)),
                    draw.real(2, 6),
                )
                for i in range(1, 71)
            ],
        ),
    )
    return Domain("library", sources, strays, QUERIES)


QUERIES = (
    query(
        "Which Brazilian writers have a book in the collection, and what are its titles?",
        "SELECT a.author_name, b.title FROM authors AS a JOIN book_authors AS x ON a.author_id = x.author_id "
        "JOIN books AS b ON x.isbn = b.isbn WHERE a.nationality = 'Brazil'",
        "authors, book_authors, books",
        ("Writer: id; name; country=Brazil", "Book: writer_id; title"),
        ("Writer.id = Book.writer_id",),
        ("Which writers are from Brazil?", "What are the titles of their books?"),
    ),
    query(
        "How many loans did each library branch hand out?",
        "SELECT br.branch, COUNT(*) FROM loans AS l JOIN copies AS c ON l.barcode = c.barcode "
        "JOIN branches AS br ON c.branch_id = br.branch_id GROUP BY br.branch_id, br.branch",
        "loans, copies, branches",
        ("Library Branch: id; name", "Loan: branch_id"),
        ("Library Branch.id = Loan.branch_id",),
        ("Which branch holds each lent item?", "How many loans were there per branch?"),
    ),
    query(
        "List the readers who have not yet brought back an item they borrowed.",
        "SELECT DISTINCT m.member_name FROM members AS m JOIN loans AS l ON m.card_no = l.card_no "
        "WHERE l.returned_on IS NULL",
        "members, loans",
        ("Reader: id; name", "Borrowing: reader_id; return date"),
        ("Reader.id = Borrowing.reader_id",),
        ("Which borrowings have no return date?", "Who are the readers of those borrowings?"),
    ),
)
