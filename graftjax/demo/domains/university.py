"""Universities and their instructors: the situation of the paper's Figure 1, and tables around it."""

from __future__ import annotations

from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, Row, bridge, near_copy, query, source, stray
from graftjax.demo.words import EURO_CITIES, STATES, listed

DEPARTMENTS = listed(
    "Computer Science, Mathematics, Physics, Chemistry, Biology, History, Philosophy, Economics, "
    "Linguistics, Psychology, Sociology, Anthropology, Mechanical Engineering, Electrical Engineering, "
    "Civil Engineering, Statistics, Political Science, Music, Fine Arts, Geography, Nursing, Law, "
    "Architecture, Astronomy"
)
FIGURE_ONE = (
    ("U001", "MIT", "Massachusetts"),
    ("U002", "Stanford University", "California"),
    ("U003", "Carnegie Mellon Univ.", "Pennsylvania"),
    ("U004", "UC Berkeley", "California"),
)
TOPICS = listed(
    "Operating Systems, Linear Algebra, Quantum Mechanics, Organic Chemistry, Cell Biology, Modern "
    "Europe, Ethics, Microeconomics, Phonology, Cognition, Urban Society, Kinship, Thermodynamics, "
    "Circuits, Bridge Design, Bayesian Inference, Public Policy, Counterpoint, Figure Drawing, Map "
    "Projections, Patient Care, Torts, Studio Practice, Stellar Structure, Compilers, Databases, Graph "
    "Theory, Number Theory, Optics, Genetics"
)


def build() -> Domain:
    draw = Draw("university")
    universities: list[Row] = list(FIGURE_ONE)
    for state in STATES:
        universities += [
            (f"U{len(universities) + 1 + i:03d}", f"{kind} {state}{tail}", state)
            for i, (kind, tail) in enumerate(
                (("University of", ""), ("Western", " College"), ("Polytechnic of", ""))
            )
        ]
    univ_ids = [row[0] for row in universities]
    departments = [(f"D{i:02d}", name) for i, name in enumerate(DEPARTMENTS, start=1)]
    people = draw.people(260)
    instructors: list[Row] = [
        (f"I{101 + i}", name, draw.skewed(departments)[0]) for i, name in enumerate(people)
    ]
    posts: list[Row] = []
    for number, _, _ in instructors:
        role = draw.pick(("Professor", "Professor", "Lecturer", "Senior Lecturer", "Assistant Professor"))
        posts += [(univ, number, role) for univ in draw.sample(univ_ids, 1 + draw.chance(0.15))]
    courses = [
        (
            i,
            f"{draw.pick(('Introduction to', 'Advanced', 'Seminar in', 'Topics in'))} {draw.pick(TOPICS)}",
            draw.pick(departments)[0],
            draw.pick((3, 4, 4, 6)),
        )
        for i in range(1, 181)
    ]
    course_numbers = [row[0] for row in courses]
    tuition = [
        (univ, year, draw.whole(80, 240) * 100, draw.maybe(draw.whole(260, 590) * 100, 0.04))
        for univ in univ_ids
        for year in (2021, 2022, 2023)
    ]
    halls = [
        (f"H{i:03d}", draw.pick(univ_ids), f"{draw.pick(people).split()[1]} Hall", draw.whole(40, 420))
        for i in range(1, 121)
    ]
    universities_source = source("universities", "UnivID, UniversityName, State", universities)
    employment = source(
        "employment",
        "UnivID, InstructorID, Role",
        posts,
        "professors, teaching_posts",
        {1: "SchoolCode, EmployeeID, Position"},
        by=lambda row: 0 if row[2] == "Professor" else 1,
    )
    halls_source = source("residence_halls", "HallID, UnivID, HallName, Beds", halls)
    sources = (
        universities_source,
        employment,
        source("instructors", "InstructorID, InstructorName, DepartmentID", instructors),
        source("departments", "DepartmentID, DepartmentName", departments),
        source(
            "courses",
            "course_no, course_title, DepartmentID, credit_hours",
            courses,
            "courses_fall, courses_spring, summer_session",
        ),
        bridge(
            "course_staff",
            "InstructorID, course_no",
            draw.links([r[0] for r in instructors], course_numbers, 1, 3),
        ),
        source(
            "tuition",
            "UnivID, academic_year, resident_fee, nonresident_fee",
            tuition,
            "tuition_a, tuition_b",
            {1: "school_code, year, in_state_usd, out_of_state_usd"},
        ),
        halls_source,
    )
    strays = (
        near_copy(halls_source, "residence_halls_2023_export", "hall, univ, name, capacity"),
        stray(
            "university_list",
            "id, name, city, country",
            [
                (
                    f"EU-{i:02d}",
                    f"Universität {c}" if n in ("Germany", "Austria") else f"University of {c}",
                    c,
                    n,
                )
                for i, (c, n) in enumerate(EURO_CITIES, start=1)
            ],
            "not-joinable",
        ),
        stray(
            "instructor_certificates",
            "certificate, instructor, sport, valid_until",
            [
                (
                    f"SKI-{i:04d}",
                    name,
                    draw.pick(("Ski", "Snowboard", "Climbing", "Sailing")),
                    draw.date(2024, 2027),
                )
                for i, name in enumerate(draw.people(70), start=1)
            ],
        ),
    )
    return Domain("university", sources, strays, QUERIES)


QUERIES = (
    query(
        "List the top 3 universities by the number of Computer Science instructors they employ, "
        "along with their state.",
        "SELECT u.UniversityName, u.State, COUNT(*) AS n FROM universities AS u "
        "JOIN employment AS e ON u.UnivID = e.UnivID JOIN instructors AS i ON e.InstructorID = "
        "i.InstructorID "
        "JOIN departments AS d ON i.DepartmentID = d.DepartmentID WHERE d.DepartmentName = 'Computer "
        "Science' "
        "GROUP BY u.UnivID, u.UniversityName, u.State ORDER BY n DESC, u.UniversityName LIMIT 3",
        "universities, employment, instructors, departments",
        ("University: id; name; state", "Instructor: university_id; department=Computer Science"),
        ("University.id = Instructor.university_id",),
        (
            "Which instructors belong to the Computer Science department?",
            "How many of those instructors does each university employ?",
            "In which state is each of the top 3 universities?",
        ),
        tag="fig1",
    ),
    query(
        "Who teaches a course about operating systems?",
        "SELECT DISTINCT i.InstructorName FROM instructors AS i "
        "JOIN course_staff AS s ON i.InstructorID = s.InstructorID JOIN courses AS c ON s.course_no "
        "= c.course_no "
        "WHERE c.course_title LIKE '%Operating Systems%'",
        "instructors, course_staff, courses",
        ("Teacher: id; name", "Course: id; teacher_id; subject=operating systems"),
        ("Teacher.id = Course.teacher_id",),
        ("Which courses are about operating systems?", "Who teaches those courses?"),
    ),
    query(
        "What was the average out-of-state tuition in 2023 for schools in each state?",
        "SELECT u.State, AVG(t.nonresident_fee) FROM universities AS u JOIN tuition AS t ON u.UnivID "
        "= t.UnivID "
        "WHERE t.academic_year = 2023 GROUP BY u.State",
        "universities, tuition",
        ("School: id; state", "Tuition: school_id; year=2023; out-of-state amount"),
        ("School.id = Tuition.school_id",),
        ("In which state is each school?", "What was the out-of-state tuition of each school in 2023?"),
    ),
    query(
        "How many dormitory beds do Californian universities have in total?",
        "SELECT SUM(h.Beds) FROM residence_halls AS h JOIN universities AS u ON h.UnivID = u.UnivID "
        "WHERE u.State = 'California'",
        "residence_halls, universities",
        ("University: id; state=California", "Dormitory: university_id; number of beds"),
        ("University.id = Dormitory.university_id",),
        ("Which universities are in California?", "How many beds does each dormitory have?"),
    ),
)
