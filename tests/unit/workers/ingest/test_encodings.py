"""Texts of shops in the encodings of their countries; what cannot be decided shows both readings."""

import io
from pathlib import Path

import pytest

from workers.ingest.files.encodings import encoding_of
from workers.ingest.guess.guess import guess

TEXTS = {
    "Gummistiefel grün;Größe 38\nTürmatte weiß;19,90\nBüroklammern;2,00\n": ("cp1252",),
    "Pâté de campagne;4,50\nÉclair café;2,10\nGâteau à la crème;9,00\n": ("cp1252",),
    "Śmietana gęsta;3,20\nChleb żytni;5,00\nJabłka;4,00\nMąka;3,00\n": ("cp1250", "iso8859_2"),
    "Hořčice plnotučná;29\nTvaroh měkký;18\nŠpagety;35\n": ("cp1250", "iso8859_2"),
    "Tejföl;300\nGyümölcsös joghurt;250\nŐszibarack befőtt;700\n": ("cp1250", "iso8859_2"),
    "Сметана густая;89\nХлеб чёрный;45\nЯблоки свежие;120\n": ("cp1251", "koi8_r", "cp866", "iso8859_5"),
    "Сіль кам'яна;12\nГречка ядриця;45\nЇжа для котів;99\n": ("cp1251",),
    "Γιαούρτι στραγγιστό;3\nΨωμί λευκό;2\nΕλιές μαύρες;5\n": ("cp1253",),
    "Süzme yoğurt;60\nYeşil çay;45\nKırmızı mercimek;80\n": ("cp1254",),
    "קפה שחור;20\nתה ירוק;12\nסוכר לבן;6\nשמן זית;40\n": ("cp1255",),
    "قهوة عربية;20\nشاي أخضر;12\nسكر أبيض;6\n": ("cp1256",),
    "Rūgštus pienas;2\nŽalias čiobrelių arbata;3\nĖriena;9\n": ("cp1257",),
    "กาแฟดำ;45\nน้ำตาลทราย;30\nชาเขียว;60\n": ("cp874",),
    "咖啡 200克;35.00\n白砂糖;12.00\n绿色 毛巾;9.90\n": ("gb18030",),
    "咖啡 200克;35.00\n白砂糖;12.00\n綠色 毛巾;9.90\n": ("big5",),
    "コーヒー豆 200g;980\n砂糖;250\n緑のタオル;500\n": ("cp932", "euc_jp"),
    "원두 커피;9800\n설탕;2500\n초록 수건;5000\n": ("cp949",),
}


@pytest.mark.parametrize(("text", "encoding"), [(text, name) for text, names in TEXTS.items() for name in names])
def test_the_encoding_of_a_text_that_does_not_state_it(text: str, encoding: str) -> None:
    raw = f"sku;name;price\n{text}".encode(encoding)
    found = encoding_of(raw, lambda: io.BytesIO(raw))
    assert raw.decode(found.name) == raw.decode(encoding)
    assert "are they right?" in found.doubt


def test_what_two_encodings_may_mean_is_shown_in_both() -> None:
    raw = "sku,name\n1,Brânză\n".encode("cp1250")
    found = encoding_of(raw, lambda: io.BytesIO(raw))
    assert '"Brânză"' in found.doubt and '"Brânzã"' in found.doubt


def test_all_rows_decide_of_the_encoding(tmp_path: Path) -> None:
    """Only a row behind the first megabytes is not ASCII."""
    plain = "".join(f"{n},Plain tea number {n},{n}.50\n" for n in range(60_000))
    path = tmp_path / "shop.csv"
    path.write_bytes(f"sku,name,price\n{plain}K,Käsereibe weiß,5.00\n".encode("cp1252"))
    assert path.stat().st_size > 1 << 20
    made = guess(path)
    assert 'encoding = "cp1252"' in made.text and "Käsereibe, weiß" in made.text


def test_a_broken_line_does_not_change_the_reading_of_the_others(tmp_path: Path) -> None:
    lines = [f"{n},Crème brûlée {n},{n}.50\n".encode() for n in range(1, 41)]
    lines[20] = lines[20].replace("û".encode(), b"\xfb")
    (tmp_path / "shop.csv").write_bytes(b"sku,name,price\n" + b"".join(lines))
    made = guess(tmp_path / "shop.csv")
    [doubt] = [doubt.sentence for doubt in made.doubts if doubt.of == "encoding"]
    assert doubt.startswith("1 line of the text is not UTF-8") and "encoding =" not in made.text
