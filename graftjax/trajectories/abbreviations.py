"""Short forms that database headers are written in, with their words; general usage, from no benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PAIRS = """
abbr abbreviation, acc account, acct account, addr address, amt amount, app application, appt appointment,
apt apartment, attr attribute, auth author, avg average, bal balance, bday birth date, bldg building,
bdate birth date, cap capacity, cat category, cd code, cert certificate, chk check, cnt count,
cntry country, co company, comm commission, cond condition, conf conference, cont continent,
corp corporation, ctry country, cur currency, curr currency, cust customer, dep departure, dept department,
desc description, descr description, dest destination, diff difference, dir director, disc discount,
dist distance, div division, dob date of birth, doc document, dpt department, dt date, dur duration,
edu education, emp employee, equip equipment, est estimate, evt event, exp experience, fac faculty,
fax fax number, fk foreign key, flg flag, fname first name, freq frequency, gov government,
govt government, grp group, hosp hospital, hq headquarters, hrs hours, img image, info information,
inst institution, instr instructor, inv invoice, lang language, lat latitude, len length, lname last name,
loc location, lng longitude, lon longitude, long longitude, lvl level, manuf manufacturer, max maximum,
med medicine, mem member, mfr manufacturer, mgr manager, mi middle initial, min minimum,
misc miscellaneous, mname middle name, mod model, msg message, mth month, nat nationality, nbr number,
nm name, no number, num number, nr number, obj object, ord order, org organization, orig origin,
pct percent, perf performance, pers person, ph phone number, phn phone, pos position, pop population,
pres president, prev previous, prod product, prof professor, proj project, pt patient, pub publication,
qty quantity, rec record, ref reference, reg region, rel relation, req request, res result,
resv reservation, rgn region, sal salary, sec section, sem semester, seq sequence, sex gender,
spec specialization, sqft square feet, src source, srv service, ssn social security number, st state,
stat status, std standard, stu student, sub subject, supp supplier, sz size, tel telephone number,
temp temperature, tot total, trans transaction, txn transaction, typ type, univ university, usr user,
val value, veh vehicle, ver version, vol volume, wt weight, ht height, yr year, zip zip code
"""


def _read(pairs: str) -> dict[str, str]:
    entries = (entry.split() for entry in pairs.replace("\n", " ").split(","))
    return {short: " ".join(meaning) for short, *meaning in entries}


ABBREVIATIONS: Mapping[str, str] = MappingProxyType(_read(_PAIRS))
"""Short form → its words."""
