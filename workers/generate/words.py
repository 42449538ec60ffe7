"""The words that generated items are made of."""

SYLLABLES = tuple("al be co da el fi go hu in jo ka lu mi no or pa qui ro sa ti ur va wi xe yo zu".split())
ADJECTIVES = tuple(
    "Classic Organic Fresh Light Extra Original Golden Family Mini Royal Crispy Soft Pure Daily Premium Green".split()
)
SIZES = ("100g", "200g", "250g", "400g", "500g", "750g", "1kg", "2kg", "330ml", "1L", "6 pack", "12 pack")
CHANNELS = ("NORTH", "SOUTH", "EAST", "WEST", "ONLINE", "OUTLET", "STATION", "MARKET", "EXPRESS")
TREE = {
    "Food": (
        "Bread",
        "Rice",
        "Pasta",
        "Milk",
        "Cheese",
        "Yoghurt",
        "Chocolate",
        "Biscuits",
        "Honey",
        "Olive oil",
        "Soup",
        "Tea",
    ),
    "Drinks": ("Juice", "Water", "Cola", "Beer", "Wine", "Coffee", "Soy milk", "Lemonade"),
    "Home": ("Soap", "Candle", "Towel", "Lamp", "Kettle", "Pan", "Mug", "Broom", "Blanket"),
    "Clothing": ("Shirt", "Sneaker", "Jacket", "Sock", "Hat", "Dress", "Jeans", "Scarf"),
    "Electronics": ("Headphones", "Charger", "Keyboard", "Speaker", "Camera", "Monitor"),
    "Garden": ("Hose", "Shovel", "Seeds", "Flower pot", "Rake"),
    "Beauty": ("Shampoo", "Lotion", "Perfume", "Lipstick", "Toothpaste"),
    "Toys": ("Puzzle", "Doll", "Blocks", "Kite", "Board game"),
}
