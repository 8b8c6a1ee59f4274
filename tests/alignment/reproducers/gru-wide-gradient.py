"""nn.GRU: m0.weight_ih_l0.grad differs in gradient between torch and oneflow.

torch 2.0.1+cu117, oneflow 0.9.0; test_recurrent.py::test_layer[name='GRU'], trial 12 of base seed 0.
both: torch and oneflow are further from the float64 result than rounding
Compared: m0.weight_ih_l0.grad.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

A2 = np.array([-0.39623415, -0.415088, 0.26469022, -0.2851445, -0.053979695, 0.349761, 0.25216526,
    -0.3253305, -0.05274284, -0.14122152, 0.15846884, 0.37313896], "float32")
A3 = np.array([0.48517, -0.19716203, 0.37724346, -0.39415324, 0.3301592, -0.29816186, 0.0442245,
    -0.103493154, 0.4905712, -0.1392883, -0.10247034, 0.10774338], "float32")
A6 = np.array([-0.25597823, 0.37373555, -0.3308103, -0.37235957, -0.26680273, -0.34827322,
    -0.025032163, -0.46734536, -0.3383324, -0.24371725, 0.35804337, 0.4231156], "float32")
A7 = np.array([0.49283767, 0.3409453, 0.05735278, -0.030074894, 0.31046766, -0.25923014, 0.49670416,
    -0.44156206, -0.08242679, -0.010065615, 0.027387083, -0.36041188], "float32")
A8 = np.array([[0.1729874], [-0.36176062], [-0.44989747], [-0.4791543], [-0.32935923],
    [-0.06585252], [-0.10744786], [-0.14734715], [-0.030139506], [-0.33473682], [0.17139733],
    [-0.35021645]], "float32")
A10 = np.array([0.15286124, -0.33185804, 0.16644502, -0.28057313, 0.46773982, 0.189924,
    -0.017429292, -0.047550917, 0.45586944, -0.13686472, 0.34854263, 0.13671792], "float32")
A11 = np.array([0.30533916, 0.027417421, -0.24969882, 0.29145277, -0.36306196, 0.4931181,
    -0.044874072, -0.047372818, -0.38620108, -0.033300042, 0.24446493, 0.47373158], "float32")
A12 = np.array([[-0.1481033], [-0.32546687], [0.14927757], [0.23181725], [-0.08919805],
    [0.13017148], [-0.08203751], [0.38236606], [0.39314288], [-0.49188948], [0.3179779],
    [0.01149863]], "float32")
A14 = np.array([0.19430685, 0.38304478, -0.3414433, 0.25758004, -0.28702462, -0.09415132,
    -0.3836134, -0.08930135, -0.2736765, 0.2771021, 0.13763297, -0.11606759], "float32")
A15 = np.array([0.43304503, 0.029346168, 0.19906974, -0.15958577, 0.21416068, -0.2749164,
    -0.20820862, 0.11275852, 0.31809354, -0.44718343, -0.082645655, -0.37376726], "float32")


def program(torch):
    m0 = torch.nn.GRU(5, 4, num_layers=2, bidirectional=True)
    with torch.no_grad():
        m0.weight_ih_l0.copy_(torch.tensor(A0))
        m0.weight_hh_l0.copy_(torch.tensor(A1))
        m0.bias_ih_l0.copy_(torch.tensor(A2))
        m0.bias_hh_l0.copy_(torch.tensor(A3))
        m0.weight_ih_l0_reverse.copy_(torch.tensor(A4))
        m0.weight_hh_l0_reverse.copy_(torch.tensor(A5))
        m0.bias_ih_l0_reverse.copy_(torch.tensor(A6))
        m0.bias_hh_l0_reverse.copy_(torch.tensor(A7))
        m0.weight_ih_l1.copy_(torch.tensor(A8))
        m0.weight_hh_l1.copy_(torch.tensor(A9))
        m0.bias_ih_l1.copy_(torch.tensor(A10))
        m0.bias_hh_l1.copy_(torch.tensor(A11))
        m0.weight_ih_l1_reverse.copy_(torch.tensor(A12))
        m0.weight_hh_l1_reverse.copy_(torch.tensor(A13))
        m0.bias_ih_l1_reverse.copy_(torch.tensor(A14))
        m0.bias_hh_l1_reverse.copy_(torch.tensor(A15))
    x0 = torch.tensor(X0, requires_grad=True)
    v3 = m0(x0)
    v4 = v3[0]
    v5 = v3[1]
    torch.autograd.backward([v4, v5], [torch.tensor(C6), torch.tensor(C7)])
    return {"m0.weight_ih_l0.grad": m0.weight_ih_l0.grad}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


A0 = packed("float32", (12, 5),
    "c-jH*01y9)D!;y{EZn|G>aD$0TS7h>X^1|A0<JzZ{vW=cz}mi8HN(CXhTcBVF>5~bK`1`l&St(0lY_oK+~dADGQGVn0M5R"
    "&PUpU6kEXs3t*SnN8ehFolqEj&!s9;F^Km}7j^4e%7Rf$H4^=)uI8ePLur9usc-cOFS+hO>7!*5@>fODptVg~82B|%^bB{"
    "ipx=Fr(_|HBFZGt{1HoZQiQb#^W)3ZIG)A~F-*7QC=iGIDLsy{y9$lN>}h}OQYUZ+0#MYF#8Q_McF%5c3p7qGr;mo>hid;"
    "YyBzQa9I4&gq4*48`-hoL<x-t|6sgn0)")
A1 = packed("float32", (12, 4),
    "c-jHL06+f-dR@Mn)BL_*n6SNoiT69QDZ@SxspCC{BJ(~P5U0L?CIvpAUah=t!o|J-d6_%jO!q$SiLE|lJD|Rhq^Lfu=PbU"
    "~x5z%WeCIx}X+AyBcso8qCeprWc`CjPzFt0HQRY41KMlRm&G0>B@X9`53bwr9W1u{+ZIM2BQ<pyE>W)4TyNJGW6@)%&!m&"
    "Q!Y=J$vhrm5>A)G#<Ii@~jEpk4FLXN(`4!^wgWAnbAn)N>XuslBO+>E}Uf>^!kp<?y")
A4 = packed("float32", (12, 5),
    "c-jH*01y96E)>4NrXD=71CTy|5#v6X8#KPGNDw{%mN~n^NrOIG72-ai?PWa}WOcrrxZyq^Yx_Lhi$T8hzB@kTp65OYE3rO"
    "=0R_Gw{_j2XMf1L39TYy&@%}y-17JRaGylF6a^$|`o7_GS#o4~tbacM%+p@mmzpTD+0^mNt{-8XV>;b-PMCZP^7#BXY=w!"
    "Z{o!GvvfsZ~oV7R`9S&u$&V8}g0-FUwIk@UW(x1hf6cfCI7E^$7thNHd!BZ$2qfRsMmF3vvCp7_3Sfb>4(zJk8=L@hpYtA"
    ")P2>{>qL@?pM4Q>(skN3K1Ps&YPOFnz@")
A5 = packed("float32", (12, 4),
    "c-jHL06+gu$LYRo!uviD0bo9)BI3SS?Grxs#lyZ1S<t?CuA;rrAceiq*OfkSRu;ZaILE%A##TO{>&3q4&aXbK)j~diuw6V"
    "1d(}S3B&<C!Qbay1?@&GvH>*7W3&T8=MAW_j93Z>29-%&lGQ7SpQdT`0+V(#9=LkLySFpYSR|dRd(b+y&Cqlj;WY4|G<+e"
    "SHUr@d*B|^T?nOMEruJb;E0scO~T6;Wpsm;F95Usv|SPnkOXpp_Y0vJ3ZH`YG-C0y4")
A9 = packed("float32", (12, 4),
    "c-jHL06+hHwq-uZWwt)x1nN8hTTH$(BZxi>1&Y4tA3(mei{w6lBd$BFa6>)-uQ0vj8LGbc*Eqfy`6oUe#FxHWht)m+Wyn6"
    "7b(OwwTBtpME!#Y7z@I*9Rjt0{@RB~1-bubp3^hIk?N`3c7S_H1Y@)ml4$MB_QD{DRM3FwuQP#eo`m{aRjZ;2M0GqyyI`F"
    "<WCayljULn5jRFXab6dOK3{Gz^UZ>v6>49-5Z8M(f&P|`l^yIMY=GQPgx(ILGcDO`{")
A13 = packed("float32", (12, 4),
    "c-jHL06+h5DNH?V76iVOilaV^x#>Ot)2O?K2cW+2CbGVSO98(4B;mb2h}XXQ_oP1XT9rN^ua~|QUemrTuwT9)&*weRXsx}"
    "VxA8tydd$9V$-X||HT1srV!%F(Hcq~t$JRdfvCcj~)seow!^u8Sn5@0XcC)^aC<s1AZJ<6t=<UAxLGZp<h0(rF+rB=StFg"
    "Ui<=eh~bMn4`#4@}rZALzvC>XvV?1{c06_36!0!+QAu#mo9D5O3}5Xe1D){#D6@@HH")
X0 = packed("float32", (3, 3, 5),
    "c-jH9089VD%0xx_E=xk)X@9@GoPb0BQ5r_b)PKJK9+5x-ntH!uuztV7+$KULOMAb`j@(6b#ectH(|^A-lVLwn6ofx26Suv"
    "rLjOf{hkw6}<bS`}Sv*5-9^^wv?SH>Rgb_te8GFAFM}EIY_kX`3ksH6DmD)uwaDTtcn`uQ9e}2C=ehfsFR$0G{7eqgUpnt"
    "!e(nm!H^?$#JsqjPTd2he(<oG||79l@}zE{7#g@3<;4u8K|KUsM")
C6 = packed("float32", (3, 3, 8),
    "c-r%N&$Zv-QLgPJl{)(!uNT=d7%=WW_A+{ZgL<FMjl5iY2btw|UL#ly08s{l=>")
C7 = packed("float32", (4, 3, 4),
    "c-jHL06+gg3(7pGRMEaXzJ)%}^H#nPl&QTCWIjK}x+}jV#`C^_Ia@pkA$h)ta27uJN-Mvx_MJY^ivGQ7?j%2;I841Xa1g("
    "M!BxCqS3y0XpgF$)OG3ZE0RFs+4m&>pW5&D^zg|CR$6G&a#HK!2RF^*biGROr#;v{_KkYtZ$#cJOD{;QGKn_1Z6F@#7XqU"
    "dgCGoz<E)>2r<90tp84W*-BS}B_msLL6V>G|;!6CnlNEbgCN%+1n`~tt)lnuXB5?Rv")


TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|
    "float16": (0.001, 0.001), "bfloat16": (0.016, 0.01), "float32": (0.0001, 1e-05),
    "float64": (1e-09, 1e-09), "complex64": (0.0001, 1e-05), "complex128": (1e-09, 1e-09),
}


def observe(value):
    """All of `value` that is compared, as plain data."""
    if not hasattr(value, "requires_grad"):
        return value if type(value).__module__ == "builtins" else type(value).__name__
    facts = {"type": "tensor", "shape": tuple(value.shape), "dtype": str(value.dtype).split(".")[-1]}
    facts |= {"device": value.device.type, "requires_grad": value.requires_grad}
    return {**facts, "values": np.array(value.detach().cpu().tolist())}


def differences(name, expected, actual, dtype="float32"):
    """Where `actual` is not the reference's `expected`, a line each. Nothing broadcasts."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in {**expected, **actual}:
            deeper = f"{name} {key}".strip()
            yield from differences(deeper, expected.get(key), actual.get(key), expected.get("dtype", dtype))
    elif type(expected) is not type(actual) or np.shape(expected) != np.shape(actual):
        yield f"{name}: expected {expected}, actual {actual}"
    else:
        e, a = np.asarray(expected), np.asarray(actual)
        rtol, atol = TOLERANCE.get(dtype, (0, 0))
        equal = np.isclose(a, e, rtol, atol, equal_nan=True) if e.dtype.kind in "fc" else np.asarray(a == e)
        for at in np.argwhere(~equal)[:1].tolist():
            many = f"{(~equal).sum()} of {e.size} differ, at {at}: " if at else ""
            yield f"{name}: {many}expected {e[tuple(at)]}, actual {a[tuple(at)]}"


def run(framework):
    try:
        return {name: observe(value) for name, value in program(framework).items()}
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    expected, actual = run(torch), run(oneflow)
    if isinstance(expected, str):
        sys.exit(print("cannot tell: torch", expected) or 2)
    found = ["oneflow " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
