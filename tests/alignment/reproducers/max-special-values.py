"""max: x0.grad differs in gradient between torch and oneflow.

torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_extremes_with_their_places[name='max'], trial 2 of base seed 0.
semantic difference: a kink, where more than one gradient is right
Compared: x0.grad.
Exits 1 while the divergence is there, 0 when it is gone, 2 when it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.max(x0, dim=-4, keepdim=False)
    v2 = v1[0]
    v2.backward(torch.tensor(C3))
    return {"x0.grad": x0.grad}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (3, 5, 5, 6),
    "c-lo(3p7<}6h1`}C66Aa)#%P;)L2DC#c*~nx}lOu%w<YSFTK!YRGL$IAmve>MMX_2bn_^$`)@=uH5PfBl*ckN6?%Ad)4ep"
    "~{4sOa`PaYKxqE+m|KGRwf1LDmrSfr0Vd14hbo4vJ7FjgnH(EWQdpHk0_x*{|q6eV0Uk8IGR|CUv3|V;!qY7tWyZIb6U!`"
    "EHLNj4~Kpy5;hvU)Z6_{`<9-bB-M}G$?TyH%#9K&#$k_a3#yz^`L;YMwz=Z4be))F`vk&piR-2jzsd=5^Yn2f`5g6ef?pf"
    "A4+*Mgt0`id-IZsp<L%-PiE+4?`&VGKrf)qQDGT@2;~E7+$EC4`U5dQ?el%DqrHp$~7IO@z;R89~|k$M{jnkYZo&amR+{t"
    "H}R#QXGgEqF-Ql631>Z_=~TV{|WxDnGyIJ=<&Xs?><j-GE$Q!*WN}&;9Y3HPyw%&oPqwadx&|znAq$05=KDs{3IO|NAM40"
    "qaM@*oc$ha9&5m39viZ$0&k|6;EHrhGNI-m{yeJ^G~O6N&EGH3NYsG`B%b6>*fH>G+(XaGb12MiBD|e!A4qku3hu<8#JyN"
    "&u0#gaJ29<Tfk#c0!C5Ja@OhftPU3Wv1o&;W70btK6>6hdUkhfHCS#C?DHdpU5z~vt7!c2aj$;Q*J#LMDwGJ?`HiPGtb3X"
    "8q@-#)HMcxaIG2itNMvA_c+Rl9hK}(XL=7cNHD-&&ZgLKb(i{8HRl;<@KEm)ekfY)7+FLXt%+7yT{)nYp{+#tQ@E*l<KkN"
    "$JxX<zJ+OlKY1Qem3TB$yZ!fhIm-;9M;uS6nWkDc1y}{OfIsq_vR!_fRC8&$<h9L6D?u!(&L?Z)5E7??D``1LAp$!8)%BM"
    ">HGNjtdFQ#tz|mh@AKi*L@P=i4;51D2xQ(XF)tJ$KF{B;+-+rd%p!c2U_v8hMd;NjP_00WmZjhC7ADCMwsy$-+Jsl%i6{%"
    "VVZm)+j}9K*7j<P78dv<5nDwPyxAOz-YXx2qemqk3ixUSYZQ*-G=}nMZ)|uw3A7s`Nk+3W203)V)$JDe=HoOtcX|dm^)Hh"
    "0J}X4;S-XZldZx@>aj2>N$)>+F7sve41fknrf<dDduQ#)!=`O8f+|z5Yai=91FFs5)7+u$+T(NTPbL5Pb`95U$b+7&{CLX"
    "E7t=?_yzS3;ym-e%xMf!&nQ+?&zllYn95`D`_utUtKCd{*L85&wjuuCNhmd#`#uQ&&z_NIe<#SZGTXmu6T-+n{w9QS0rW*"
    "dxF<DU>kYAEI7rS}Kv?yxSFPq$jd1zELtY#6&8s=At?FENY8wa#j!yN+2j_$n1ryRJWpa+hN{maMY429do_ZMHrGqO26oD"
    "oP6=L2m#A_ssa-5Y!!YCgP4E(kO}rnJfj@s>VU4-)kJ{4XTA<jhNOmKdhVL#y1bqJuuT2*X^2vGS(N|$~aWpJV>~JCDy7}"
    "Kl9AjEq}g>#;%*{j8$+2Y|~QUz}PWlTdFC2pR!j*gx;s{Riy|SMKwz7YHj$Op=UHus_H~>cF&5T_gIQwE1g^S)veHzN+2x"
    "24Xh?SB0nm7P`{h;ze4zf5Vo)>4MZ(I?DBbcK(^^34*A7`b=N~SLrH)QTQcd{M9D7fBySgbw>|!@p7chz!k1rcMCX_zP<q"
    "FQ-YLF*GjV6_F_;2_yawD!Q5#%}497_W{+K-VHKxxjV{_GKBcu64K993tVZum1ahw@O<Aebt%<o>0%N7`b+gUN+Hv(NR6;"
    "@)IOy{!e_j2foFv6Z0C6tSZo->fCIT_A+twBrWSh!IxgONVuW@|UY{^?mZsj)?15mXEMJtrV`vKL%AoKz$)0easpwpVBE%"
    "B`rq<ibO1GVUG99(cmiL3LDVt$`c4?Qm?a1U}R~fr5kr)Cm2AHs==o_ubK!TY>btBh}WWekmGOwNtK037r$}U%%wt69")
C3 = packed("float32", (5, 5, 6),
    "c-jTQTS${(7yw{P9Vwaz%tS&WN|&b=E*-W1dzUGS4%DpG+&rW+LsKWo9MkeoS1l79GQH@=nW6?NVwv08-gkk7EQ6&%CIkj"
    "TW>!u^?8bT?>+>pRs!GG*Vt-Pvj<UGY7BXh2L3Z&o+y15k??yHZ4~{VFK5@T7%Scd}N?NxB4DXvrt61W~+oD)SU=lOm-sO"
    "4?NnkM~fLJq*ew(eJpHZSEa)9MlSAy14#@x>)ol`0fdDFCW@@XuUaB7n2hmikJ>yjL4BrWrCwwV?*dp1y0sHQPRJ4}ug!^"
    "bEkxV@QRvEOG44?0jZdIBO<jbQw3LhI=rmKvG@Cj}~CtF`ntT1on?cnq!=k|#X@c)^NmeKD8`4DBSgZJ|(}h+_ph3|RcZu"
    "I%lz2A`gIzL*>Dn??ThRh+vvjlw~H*4)2<d<sd^RmaHjC4t8BYG6L%56X;XXcgu_#k=pW&56gzznOPQ?K%*x<g@v;A)ISc"
    "!`dxmvdw&EhHNHlW*i?_!@UfNg+jNTTmBjc-NpjoXD&%^_MU^`jaf9Ll~bOt0Gv%#v>R3qw!I3<{L}#Mqg(7CtAmgw4e@^"
    "q(d0PAl1qA6Th3jImr22)JOgXh9hf_PfXqeza4YCMx*Hs><RT3OJgkOS>N=3zy9_Zu6*%SGMsH6RNDhU=RA(K^GbZqOUoa"
    "Di?VNnbhL+hou>7bWyYf}kb+(@5d^8ASbT}doqVBm;@E#7PtbQNsUbdr26hZRNR`T0<abZ;vhJL#1$UhlyCg&%Tb^Qhl@C"
    "e{PlwTYB")


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
        print("cannot compare: torch", expected)
        sys.exit(2)
    found = ["oneflow " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*(found or ["torch and oneflow agree"]), sep="\n")
    sys.exit(1 if found else 0)
