"""Pools of words that the domains draw values from. Places are real, all facts about them invented."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """`"a b, c"` → `("a b", "c")`."""
    return tuple(text.split(", "))


FIRST_NAMES = listed(
    "Alice, Amara, Andrei, Anika, Beatriz, Ben, Carmen, Carol, Chloe, Conor, Dan, Daniela, David, "
    "Dmitri, Elena, Elias, Emeka, Emily, Farid, Fatima, Felix, Fiona, Gabriel, Giulia, Grace, Hana, "
    "Hannah, Hassan, Helen, Henrik, Hugo, Ibrahim, Ines, Ivan, Jack, James, Jana, Jean, Jin, Joao, "
    "Jonas, Julia, Kaito, Karim, Katarina, Kofi, Lars, Laura, Layla, Leo, Lina, Lucas, Lucia, Maeve, "
    "Malik, Marco, Maria, Marta, Mateo, Mei, Miguel, Mina, Nadia, Naoko, Niamh, Nikhil, Nina, Noah, "
    "Olga, Oliver, Omar, Oscar, Paula, Pedro, Petra, Priya, Rafael, Rahul, Rania, Robert, Rosa, Ruth, "
    "Samir, Sara, Sean, Selma, Simon, Sofia, Stefan, Sunita, Tariq, Teresa, Thomas, Tomas, Uma, Vera, "
    "Victor, Viktor, Wei, Yara, Yusuf, Zoe"
)
LAST_NAMES = listed(
    "Abbott, Adeyemi, Ahmed, Alvarez, Andersen, Baker, Banerjee, Barbosa, Becker, Bennett, Berg, "
    "Bianchi, Boateng, Brennan, Byrne, Campbell, Castillo, Chen, Clarke, Cohen, Costa, Cruz, Davis, "
    "Delgado, Desai, Diaz, Doyle, Dubois, Eriksson, Evans, Farouk, Fischer, Fitzgerald, Fontaine, "
    "Forbes, Garcia, Gomez, Gupta, Haddad, Hansen, Harris, Hayes, Hoffmann, Hughes, Ibrahim, Ivanova, "
    "Jackson, Jansen, Johansson, Kapoor, Keller, Kelly, Khan, Kim, Kovacs, Kowalski, Kumar, Larsen, "
    "Laurent, Lee, Lindqvist, Lopez, Maher, Mancini, Marino, Martin, Mbeki, Mendes, Meyer, Molina, "
    "Moreau, Murphy, Nakamura, Nguyen, Nowak, Obi, Okafor, Olsen, Osei, Park, Patel, Pereira, Petrov, "
    "Quinn, Ramos, Reid, Reyes, Ricci, Rossi, Russo, Sato, Schmidt, Schneider, Shah, Silva, Singh, "
    "Smith, Sullivan, Suzuki, Tanaka, Taylor, Torres, Turner, Vargas, Vogel, Walsh, Wang, Weber, White, "
    "Wilson, Wong, Yamamoto, Zhang, Ziegler"
)
STATES = (
    "California",
    "Massachusetts",
    "Pennsylvania",
    "Texas",
    "New York",
    "Ohio",
    "Illinois",
    "Washington",
    "Michigan",
    "Virginia",
    "Georgia",
    "Colorado",
    "Oregon",
    "Minnesota",
    "North Carolina",
    "Arizona",
)
US_CITIES = (
    "Boston",
    "Oakland",
    "Pittsburgh",
    "Austin",
    "Buffalo",
    "Columbus",
    "Chicago",
    "Seattle",
    "Detroit",
    "Richmond",
    "Atlanta",
    "Denver",
    "Portland",
    "Minneapolis",
    "Charlotte",
    "Phoenix",
    "Sacramento",
    "Houston",
    "Cleveland",
    "Tacoma",
)
EURO_CITIES = (
    ("Dublin", "Ireland"),
    ("Cork", "Ireland"),
    ("London", "United Kingdom"),
    ("Leeds", "United Kingdom"),
    ("Edinburgh", "United Kingdom"),
    ("Paris", "France"),
    ("Lyon", "France"),
    ("Toulouse", "France"),
    ("Madrid", "Spain"),
    ("Valencia", "Spain"),
    ("Lisbon", "Portugal"),
    ("Porto", "Portugal"),
    ("Milan", "Italy"),
    ("Bologna", "Italy"),
    ("Munich", "Germany"),
    ("Hamburg", "Germany"),
    ("Leipzig", "Germany"),
    ("Vienna", "Austria"),
    ("Zurich", "Switzerland"),
    ("Copenhagen", "Denmark"),
    ("Oslo", "Norway"),
    ("Stockholm", "Sweden"),
    ("Helsinki", "Finland"),
    ("Warsaw", "Poland"),
    ("Prague", "Czechia"),
    ("Athens", "Greece"),
)
COUNTRIES = (
    *dict.fromkeys(country for _, country in EURO_CITIES),
    *listed("Japan, Brazil, Canada, Australia, South Africa, India, Argentina, New Zealand"),
)
STREETS = tuple(
    f"{name} {kind}"
    for name in listed(
        "Abbey, Ashgrove, Beech, Bridge, Canal, Castle, Cedar, Chapel, Church, Elm, Foundry, Garden, "
        "Harbour, Hawthorn, Hill, Juniper, King, Lake, Linden, Maple, Market, Mill, Oak, Orchard, Park, "
        "Poplar, Quarry, Queen, River, Rowan, School, Station, Temple, Union, Victoria, Walnut, Wharf, "
        "Willow"
    )
    for kind in ("Street", "Road", "Avenue", "Lane")
)
COMPANY_HEADS = listed(
    "Altmark, Arbor, Atlas, Aurora, Beacon, Birchwood, Bluewater, Bramble, Brightfield, Calder, "
    "Caspian, Cobalt, Copperline, Crestview, Delmar, Dunmore, Eastgate, Elmwood, Everlane, Fairmont, "
    "Falcon, Fenwick, Glenrock, Granite, Greenhill, Halcyon, Harrow, Highland, Ironbridge, Juniper, "
    "Kestrel, Keystone, Lakeshore, Larkfield, Lumen, Marlowe, Meridian, Northstar, Oakmont, Orion, "
    "Palisade, Pinecrest, Quayside, Ravenhill, Redwood, Riverstone, Saffron, Sentinel, Silverlake, "
    "Solway, Sterling, Stonegate, Summit, Tidewater, Trident, Vantage, Westbrook, Whitfield, "
    "Willowbrook, Zephyr"
)
ADJECTIVES = listed(
    "Silent, Golden, Broken, Hidden, Crimson, Distant, Burning, Frozen, Gentle, Hollow, Last, Lonely, "
    "Lost, Midnight, Northern, Pale, Quiet, Restless, Scarlet, Secret, Second, Shining, Silver, "
    "Sleeping, Southern, Stolen, Stranger, Sudden, Velvet, Wandering, White, Wild, Winter, Yellow"
)
NOUNS = listed(
    "Harbour, River, Garden, Mirror, Letter, Summer, Orchard, Bridge, Island, Promise, Shadow, Station, "
    "Lantern, Kingdom, Voyage, Crossing, Daughter, Witness, Horizon, Winter, Compass, Feather, Market, "
    "Valley, Theatre, Painter, Clock, Forest, Thunder, Signal, Tide, Road, Stranger, Window, Candle, "
    "Mountain"
)
COLOURS = ("red", "green", "blue", "orange", "purple", "brown", "grey", "teal")
