"""The words that invented articles are made of."""

SYLLABLES = tuple(
    "al be co da el fi go hu in jo ka lu mi no or pa qui ro sa ti ur va wi xe yo zu bran dex fon gar kon lin mar nor "
    "pol rex san tek tron ver vox zen".split()
)
ADJECTIVES = tuple(
    "classic compact deluxe digital dual economy electric extra family fine flexible heavy high home large light "
    "medium mini mobile multi natural original outdoor portable power premium professional quiet rapid royal series "
    "slim small smart soft solid sport standard super ultra universal value wide wireless".split()
)
FEATURES = tuple(
    "usb bluetooth stainless steel|remote control|rechargeable battery|touch screen|high definition|leather case|"
    "energy saving|noise cancelling|water resistant|fast charging|optical zoom|flat panel|wall mount|carrying strap|"
    "automatic shut off|built in speaker|double sided|recycled paper|non stick coating|adjustable height|front loading|"
    "cordless|surround sound|backlit keys|memory card slot|easy grip|scratch proof|dishwasher safe|ergonomic|foldable|"
    "gloss finish|matte finish|self adhesive|acid free|unscented|gluten free|organic|extra strong".split("|")
)
COLOURS = tuple("black white silver grey red blue green yellow pink purple orange brown gold beige navy".split())
EDITIONS = tuple(
    "standard professional home premium student academic upgrade full deluxe small business enterprise "
    "basic advanced starter collection license".split()
)
PLATFORMS = ("mac os x", "win 98/xp", "linux", "windows", "mac", "pc", "")
GOODS = {
    "cameras": ("digital camera", "camcorder", "camera lens", "camera bag", "tripod", "flash unit"),
    "audio": ("headphones", "speaker system", "av receiver", "clock radio", "mp3 player", "microphone", "subwoofer"),
    "computers": ("laptop computer", "lcd monitor", "wireless keyboard", "optical mouse", "hard drive", "flash drive"),
    "networking": ("ethernet switch", "wireless router", "network adapter", "usb cable", "print server"),
    "kitchen": ("microwave oven", "coffee maker", "toaster", "blender", "refrigerator", "dishwasher", "kettle"),
    "phones": ("cordless phone", "phone charger", "headset", "answering machine", "phone case"),
    "home": ("vacuum cleaner", "air conditioner", "washing machine", "gas dryer", "steam iron", "desk lamp"),
    "clothing": ("running shoes", "rain jacket", "leather boots", "wrist watch", "back pack"),
}
SUPPLIES = {
    "office": ("ink cartridge", "toner cartridge", "photo paper", "hanging file folders", "ring binder", "labels"),
    "writing": ("ball pen", "permanent marker", "gel pen", "mechanical pencil", "highlighter"),
    "food": ("green tea", "dark chocolate", "olive oil", "tomato soup", "soy milk", "instant noodles", "jasmine rice"),
    "care": ("shampoo", "hand cream", "toothpaste", "shower gel", "facial tissue", "laundry detergent"),
    "batteries": ("alkaline batteries", "lithium battery", "aa batteries", "battery charger"),
}
SOFTWARE = {
    "business": ("tax", "accounting", "office suite", "project planner", "invoice manager", "payroll"),
    "design": ("photo editor", "video studio", "web designer", "cad architect", "font collection", "music studio"),
    "security": ("antivirus", "internet security", "backup", "firewall", "password manager"),
    "learning": ("typing tutor", "language course", "math adventure", "reading companion", "encyclopedia", "atlas"),
    "games": ("racing game", "space strategy", "card games", "mystery adventure", "flight simulator", "puzzle pack"),
}
UNITS = {
    "g": ("g", "gr", "grams"),
    "kg": ("kg", "kilo"),
    "ml": ("ml", "mL"),
    "l": ("l", "liter", "litre"),
    "in": ("inch", "in", '"', "''", "inches"),
    "gb": ("gb", "GB"),
    "mb": ("mb", "MB"),
    "w": ("w", "watt", "watts"),
    "mp": ("mp", "megapixel"),
    "ft": ("ft", "feet", "foot"),
    "sheets": ("sheets", "sheet", "sht"),
    "port": ("port", "ports"),
}
FILLERS = tuple(
    "new|free shipping|retail packaging|with bonus|factory sealed|by the maker|oem|bulk|in box|best price|cd|dvd rom|"
    "limited stock|two year warranty".split("|")
)
SOFTWARE_FILLERS = tuple(
    "complete package|1 user|win 98 me nt 2000 xp|mac 10.2 or later|jewel case|small box|pc|software|win english|"
    "cd win|older version|dvd rom win mac".split("|")
)
SHORT_FORMS = {
    "professional": "pro", "standard": "std", "wireless": "wl", "black": "blk", "white": "wht", "silver": "slv",
    "digital camera": "cam", "windows": "win", "deluxe": "dlx", "premium": "prem", "medium": "med", "large": "lg",
    "letter": "ltr", "academic": "acad", "license": "lic", "high definition": "hd", "stainless steel": "ss",
    "upgrade": "upg", "system": "sys", "business": "bus", "edition": "ed", "black white": "b/w", "keyboard": "kbd",
    "battery": "batt", "batteries": "batt", "cartridge": "cart", "monitor": "mon", "adapter": "adptr",
}  # fmt: skip
