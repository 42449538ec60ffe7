"""The currency codes of ISO 4217, and the signs that people write for currencies. Pure.

The codes are those that the standard's maintenance agency (SIX) publishes, its list one and list three. Withdrawn codes
are included, because prices and exchange rates of earlier years are stated in them. Not included: XTS (for tests) and
XXX (no currency), in which nothing has a price.
"""

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
    "FCFA": frozenset("XAF XOF".split()),
    "F CFA": frozenset("XAF XOF".split()),
    "CFA": frozenset("XAF XOF".split()),
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
                "円=JPY SR=SAR ر.س=SAR د.إ=AED ج.م=EGP ر.ق=QAR ر.ع=OMR د.ك=KWD د.ب=BHD د.أ=JOD د.م=MAD د.ت=TND د.ج=DZD "
                "د.ع=IQD ل.ل=LBP ریال=IRR"
            ).split()
        )
    },
}
MARKS = {**{code: frozenset((code,)) for code in sorted(CODES)}, **SIGNS}
