"""A hospital's patients, stays and wards."""

from __future__ import annotations

from graftjax.demo.draw import Draw, day_after
from graftjax.demo.parts import Domain, bridge, near_copy, query, source, stray
from graftjax.demo.words import listed

WARDS = listed(
    "Cardiology, Maternity, Oncology, Paediatrics, Orthopaedics, Neurology, Intensive Care, Geriatrics, "
    "Urology, Dermatology, Respiratory, Renal, Day Surgery, Emergency Short Stay, Rehabilitation, "
    "Haematology"
)
ICD = {
    "I21.0": "Acute myocardial infarction of anterior wall",
    "I48.9": "Atrial fibrillation, unspecified",
    "J18.9": "Pneumonia, unspecified organism",
    "J45.9": "Asthma, unspecified",
    "E11.9": "Type 2 diabetes mellitus",
    "S72.0": "Fracture of neck of femur",
    "S52.5": "Fracture of lower end of radius",
    "K35.8": "Acute appendicitis",
    "N39.0": "Urinary tract infection",
    "C50.9": "Malignant neoplasm of breast",
    "C34.9": "Malignant neoplasm of lung",
    "G40.9": "Epilepsy, unspecified",
    "G43.9": "Migraine, unspecified",
    "O80": "Single spontaneous delivery",
    "O82": "Delivery by caesarean section",
    "A09": "Infectious gastroenteritis",
    "L40.0": "Psoriasis vulgaris",
    "N18.5": "Chronic kidney disease, stage 5",
    "F32.9": "Depressive episode, unspecified",
    "R55": "Syncope",
    "I63.9": "Cerebral infarction",
    "D50.9": "Iron deficiency anaemia",
    "M17.9": "Gonarthrosis",
    "H26.9": "Cataract",
}
DRUGS = listed(
    "Amoxicillin, Atorvastatin, Bisoprolol, Ceftriaxone, Enoxaparin, Furosemide, Ibuprofen, Insulin "
    "glargine, Lisinopril, Metformin, Morphine, Omeprazole, Ondansetron, Paracetamol, Prednisolone, "
    "Salbutamol, Warfarin"
)


def build() -> Domain:
    draw = Draw("hospital")
    wards = [
        (f"W{chr(65 + i)}{draw.whole(1, 9)}", name, draw.whole(8, 36), draw.whole(0, 7))
        for i, name in enumerate(WARDS)
    ]
    ward_codes = [row[0] for row in wards]
    patients = [
        (
            f"P{20000 + 7 * i}",
            *reversed(name.split(" ")),
            draw.date(1932, 2021),
            draw.pick(("F", "M")),
            draw.maybe(f"{draw.pick(('EH', 'G', 'KY', 'DD'))}{draw.whole(1, 20)} {draw.whole(1, 9)}AB", 0.08),
        )
        for i, name in enumerate(draw.people(360))
    ]
    admissions, diagnoses = [], []
    for number in range(1, 621):
        admitted = draw.date(2021, 2023)
        left = draw.maybe(day_after(admitted, draw.whole(0, 21)), 0.06)
        admissions.append((number, draw.pick(patients)[0], draw.pick(ward_codes), admitted, left))
        diagnoses += [(number, code) for code in draw.sample(ICD, draw.whole(1, 3))]
    jobs = (
        "Nurse",
        "Nurse",
        "Nurse",
        "Consultant",
        "Junior Doctor",
        "Porter",
        "Pharmacist",
        "Physiotherapist",
    )
    staff = [
        (5000 + i, name, draw.pick(jobs), f"Band {draw.whole(2, 8)}", None)
        for i, name in enumerate(draw.people(150))
    ]
    prescriptions = [
        (
            i,
            draw.whole(1, 620),
            draw.pick(DRUGS),
            f"{draw.pick((5, 10, 20, 40, 250, 500))} mg",
            draw.whole(1, 4),
        )
        for i in range(1, 521)
    ]
    stays = source(
        "admissions",
        "adm_no, pat_id, ward_code, admitted_on, discharged_on",
        admissions,
        "admissions_h1, admissions_h2, adm_overflow, adm_transferred",
        {2: "admission, patient, ward, start_date, end_date"},
    )
    sources = (
        source(
            "patients",
            "pat_id, surname, given_name, birth_date, sex, postcode",
            patients,
        ),
        stays,
        source("wards", "ward_code, ward_name, bed_count, floor", wards),
        source("staff", "staff_no, staff_name, job, pay_band, pager", staff),
        bridge("rota", "staff_no, ward_code", draw.links([r[0] for r in staff], ward_codes, 1, 2)),
        bridge("diagnoses", "adm_no, icd_code", diagnoses),
        source("icd_codes", "icd_code, description", ICD.items()),
        source(
            "prescriptions",
            "rx_no, adm_no, drug, dose, times_daily",
            prescriptions,
        ),
    )
    strays = (
        near_copy(stays.pieces[0], "admissions_backup"),
        stray(
            "wards_councillors",
            "ward_code, ward_name, councillor, party",
            [
                (
                    f"E{i:02d}",
                    f"{draw.pick(patients)[1]} Ward",
                    name,
                    draw.pick(("Green", "Labour", "Liberal", "Unionist")),
                )
                for i, name in enumerate(draw.people(54), start=1)
            ],
            "not-joinable",
        ),
        stray("patient_feedback_template", "pat_id, question, answer", [], "empty"),
    )
    return Domain("hospital", sources, strays, QUERIES)


QUERIES = (
    query(
        "How many patients were admitted to the cardiology unit in 2022?",
        "SELECT COUNT(DISTINCT a.pat_id) FROM admissions AS a JOIN wards AS w ON a.ward_code = w.ward_code "
        "WHERE w.ward_name = 'Cardiology' AND a.admitted_on LIKE '2022%'",
        "admissions, wards",
        ("Hospital Unit: id; name=cardiology", "Stay: unit_id; patient; admission date=2022"),
        ("Hospital Unit.id = Stay.unit_id",),
        ("Which unit is cardiology?", "Which patients were admitted to it in 2022?"),
    ),
    query(
        "Give the names and birth dates of patients who have been diagnosed with asthma.",
        "SELECT DISTINCT p.given_name, p.surname, p.birth_date FROM patients AS p "
        "JOIN admissions AS a ON p.pat_id = a.pat_id JOIN diagnoses AS x ON a.adm_no = x.adm_no "
        "JOIN icd_codes AS c ON x.icd_code = c.icd_code WHERE c.description LIKE 'Asthma%'",
        "patients, admissions, diagnoses, icd_codes",
        ("Patient: id; name; date of birth", "Disease: patient_id; name=asthma"),
        ("Patient.id = Disease.patient_id",),
        ("Which patients have been diagnosed with asthma?", "What are their names and dates of birth?"),
    ),
    query(
        "Which nurses work on the maternity ward?",
        "SELECT s.staff_name FROM staff AS s JOIN rota AS r ON s.staff_no = r.staff_no "
        "JOIN wards AS w ON r.ward_code = w.ward_code WHERE s.job = 'Nurse' AND w.ward_name = 'Maternity'",
        "staff, rota, wards",
        ("Employee: id; name; occupation=nurse; ward_id", "Ward: id; name=maternity"),
        ("Employee.ward_id = Ward.id",),
        ("Which employees are nurses?", "Which of them work on the maternity ward?"),
    ),
    query(
        "What are the five most frequently prescribed medicines?",
        "SELECT drug, COUNT(*) AS n FROM prescriptions GROUP BY drug ORDER BY n DESC, drug LIMIT 5",
        "prescriptions",
        ("Prescription: medicine",),
        (),
        ("How often has each medicine been prescribed?",),
    ),
)
