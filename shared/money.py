"""Money: currencies of ISO 4217, amounts as integers of the minor unit, and as decimal text for people. Pure."""

from decimal import Decimal, InvalidOperation

# The currency codes of ISO 4217, as its maintenance agency (SIX) publishes them: its list one and list three.
# Withdrawn codes are included, because prices and exchange rates of earlier years are stated in them. Not included:
# XTS (for tests) and XXX (no currency), in which nothing has a price.


CURRENT = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
    CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL
    HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA
    MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD
    RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
    USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR
    ZMW ZWG
    """.split()
)
WITHDRAWN = frozenset(
    """
    ADP AFA ALK ANG AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BGN BOP BRB BRC BRE BRN BRR BUK BYB
    BYR CHC CSD CSJ CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE GWP HRD HRK IEP
    ILP ILR ISJ ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC NLG PEH PEI PES PLZ PTE
    RHD ROK ROL RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN UYP VEB VEF VNC XEU XFO XFU XRE
    YDD YUD YUM YUN ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR
    """.split()
)
CODES = CURRENT | WITHDRAWN
# What people write beside an amount, and the currencies that each may mean.
SIGNS = {
    "$": frozenset(
        "ARS AUD BBD BMD BND BSD BZD CAD CLP COP FJD HKD JMD LRD MXN NAD NZD SGD TTD TWD USD UYU XCD".split()
    ),
    "£": frozenset("EGP FKP GBP GIP LBP SDG SHP SYP".split()),
    "¥": frozenset("CNY JPY".split()),
    "￥": frozenset("CNY JPY".split()),
    "Rs": frozenset("INR LKR MUR NPR PKR SCR".split()),
    "Rs.": frozenset("INR LKR MUR NPR PKR SCR".split()),
    "ريال": frozenset("IRR OMR QAR SAR YER".split()),
    "﷼": frozenset("IRR OMR QAR SAR YER".split()),
    "درهم": frozenset("AED MAD".split()),
    "جنيه": frozenset("EGP SDG".split()),
    "دينار": frozenset("BHD DZD IQD JOD KWD LYD TND".split()),
    "kr": frozenset("DKK ISK NOK SEK".split()),
    "kr.": frozenset("DKK ISK NOK SEK".split()),
    **{
        sign: frozenset((code,))
        for sign, code in (
            pair.split("=")
            for pair in (
                "A$=AUD AU$=AUD C$=CAD CA$=CAD HK$=HKD MX$=MXN NT$=TWD NZ$=NZD R$=BRL S$=SGD US$=USD ฿=THB บาท=THB "
                "₡=CRC ₦=NGN ₩=KRW 원=KRW ₪=ILS ₫=VND đ=VND VNĐ=VND €=EUR ₱=PHP ₴=UAH грн=UAH грн.=UAH ₸=KZT тг=KZT "
                "₹=INR ₺=TRY TL=TRY ₽=RUB руб=RUB руб.=RUB р=RUB р.=RUB zł=PLN Kč=CZK Ft=HUF lei=RON лв=BGN лв.=BGN "
                "дин=RSD дин.=RSD Fr.=CHF SFr.=CHF Rp=IDR Rp.=IDR RM=MYR ৳=BDT ₾=GEL ֏=AMD ₼=AZN ₮=MNT RMB=CNY 元=CNY "
                "円=JPY ر.س=SAR د.إ=AED ج.م=EGP ر.ق=QAR ر.ع=OMR د.ك=KWD د.ب=BHD د.أ=JOD د.م=MAD د.ت=TND د.ج=DZD "
                "د.ع=IQD ل.ل=LBP ریال=IRR"
            ).split()
        )
    },
}
MARKS = {**{code: frozenset((code,)) for code in sorted(CODES)}, **SIGNS}


# Money as integers of the currency's minor unit, and as decimal text for people. Never as binary floating point.
# Minor digits: ISO 4217, list of current currency codes (only those that differ from two are written here).


MINOR_MAX = 10**15
_NOT_TWO = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def minor_digits(currency: str) -> int:
    """Return how many decimal digits the currency has: 2 for HKD, 0 for JPY."""
    return _NOT_TWO.get(currency, 2)


def to_minor(text: str, currency: str) -> int:
    """Turn decimal text into minor units; raise ValueError, which says what an amount of the currency must be."""
    digits = minor_digits(currency)
    try:
        amount = Decimal(text).scaleb(digits)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ValueError(f"must be a number, such as {to_text(1_000, currency)}")
    if amount != amount.to_integral_value():
        raise ValueError(f"must have {f'at most {digits}' if digits else 'no'} decimals in {currency}")
    if not 0 <= amount <= MINOR_MAX:
        raise ValueError(f"must be from 0 to {Decimal(to_text(MINOR_MAX, currency)):,}")
    return int(amount)


def to_amount(minor: int | Decimal, currency: str) -> Decimal:
    """Turn minor units into an amount."""
    return Decimal(minor).scaleb(-minor_digits(currency))


def to_text(minor: int | Decimal, currency: str) -> str:
    """Write minor units as decimal text: (1050, "HKD") is "10.50". A half unit of a median stays exact: "10.505"."""
    digits = minor_digits(currency)
    units = int(minor)
    if units == minor and units >= 0:
        whole, rest = divmod(units, 10**digits)
        return f"{whole}.{rest:0{digits}}" if digits else str(whole)
    amount = Decimal(minor).scaleb(-digits).normalize()
    shown = max(digits, -int(amount.as_tuple().exponent))
    return f"{amount:.{shown}f}"


def minor_exceptions() -> dict[str, int]:
    """Return the currencies that have other than two decimal digits."""
    return dict(_NOT_TWO)
