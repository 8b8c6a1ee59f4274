"""nn.BatchNorm3d: m0.running_var differs in value between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_normalisation.py::test_in_double_precision[name='BatchNorm3d'], trial 0 of base seed 77.
torch is the specification: torch:xla differs in value, in float64 too; nobody else has an opinion
Compared: m0.running_var.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import torch_xla
    torch.empty(1, device='xla')
    from typing import Any
    class OnDevice:
        """torch, or a module of it, whose functions put what they make on a device."""

        def __init__(self, inner: Any, device: str) -> None:
            self.inner, self.device = inner, device
        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inner, name)
            return OnDevice(found, self.device) if callable(found) or hasattr(found, "__path__") else found
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            import torch
            with torch.device(self.device):
                return self.inner(*args, **kwargs)
    on_device = OnDevice(torch, 'xla')
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

A0 = np.array([1.0, 1.0, 1.0, 1.0], "float32")
A1 = np.array([0.0, 0.0, 0.0, 0.0], "float32")
A2 = np.array([0.0, 0.0, 0.0, 0.0], "float32")
A3 = np.array([1.0, 1.0, 1.0, 1.0], "float32")
A4 = np.array(0, "int64")


def program(torch):
    m0 = torch.nn.BatchNorm3d(4)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
        m0.running_mean.copy_(torch.tensor(A2))
        m0.running_var.copy_(torch.tensor(A3))
        m0.num_batches_tracked.copy_(torch.tensor(A4))
    m0.double()
    x0 = torch.tensor(X0, requires_grad=True)
    v4 = m0(x0)
    v4.backward(torch.tensor(C5))
    return {"m0.running_var": m0.running_var}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float64", (3, 4, 4, 4, 4),
    "c-jq@ha(jZ5XVWAie!a`RW_j#)kTV^lq3}@S-+&Al58p|B$b&`p@_&T86C38CPe15p7kbgc<<*wxV!K7?)$k@O;`xYWS|v"
    "Z)RfPqfU4qy1*&j21m{bP%T|!Fj1(0;)5M0t$u-1f8Wi-cD8%?vEMRt(tliNyhw@pHLfV%rFmYw#6ZLT>lx6z%iw4bsyaz"
    "{@rqm9mM|&k^^P6#KO3nNEuQudd_arX14TGh?2)E6Jf%$_i+KWkCFnRwde?!K1e4FEDaa5m%t<(T5mxd9j$jbU&mr#nS_x"
    "L<7^H8w=eNNi)FcOgO%xE8O8w1;N{kIw`=AmB0{;8YlBG~(wBsrXAVNHPWq;ohM9ls_U_XW(N=UY)Dx0y=VDX=!+ZXW~Qn"
    "SBa(yc>yMsC|_bMGBC|5=p(w+EDWhU2D}2Hm(;|jd;tU;`vOG8AUx7daP0|X^^6zW0F*lxfu%%s@FdC>W_xL)nRvXoo3M_"
    "_rEBz9|Knm%7}KGkl~HfdE%b0boeLU&{edb2$rh{`XBGA!dO@Py;*Bm_~ahVtS_AmL7vkY>Di+|RA>`SwV#9QZseCL^>pm"
    "1+?8M~JqF4T?S8^(8Y;#}Up(FM6H~2e7i#w`B42UZkMTu13`(mhdiGA>8r$`oX1lqt7_U;`5Jbd>A%m8DH=3|PLyq^lOb?"
    "Wf9UJ?@vxx3&s{ZcK3Aolz4LV`TLf+l%9KXxM7-Dd~<CFh9&J8s*U3mTz*cJDBEGpZ9Kg#k=MMejf*E(@DOZ(AVTv9P2kp"
    "ji)X9yEgeQ=lVyk*5r0tRRstdrP7!ryaa!zOhE^c8)cd}_xia<#pF4_{=0rJb5{_~0+hl+jdVpQB-r&dA9x{2ll~vB7eq^"
    "C;L)8amnBBtXy~;haLTQFtaF>G86cj3NP%+D$ej+{WU~2zCDe^%KHhnx@&X-YGBj#CtZzH&If$b6EJ9lW}*7w;R`07sW8H"
    "vf;x`T(f<k1>HQ8e+OP1#@mj~qv{@uVEDa@c;90f6bs`z{v2ZB$sk!LONY<+Az{0@9d!hn#c#-IyrChh?_bT#ej2Fi{4%{"
    "@v4Gq7thWc(%;DbHz4zZ8o5Z8l3Cw=dEcyw<L_j+YOU4gb|EQvZbg$gJEU61BOpLmn^_%eJtfO<BJ_m-_e!DET5ukK>S(0"
    ";4JY3d{Z6eGsKyLlHg3}F5Nad<|cI^6wabvXGLgrKu$vgT;CA1&DcDkJWZa~A{HM-pgUHf5o(63wBkEj@AJ6Vz<O~W3oqu"
    "rZQdoiG5qTIBchV+q7DNcq2urwFATpU}4_BQ#V5k5rF(wr5R8k_)%#`|D+L<T+QT`yAfdypEkY2aE#4O$fLEI{d5=or|m="
    "4d>HZc;WH+^hu{mvOp~usj#P#>6phP)opLW`}+8<{6Mv%gKG0KnItf=4^|q@2FsT>}GxM99a71oWB0E1CsOq3Cn9V!+{Sg"
    "zfEM#g1?H$HC-nTy!fEhtb3b<a|y<30&DW%h}7ZyD<39deeL&c28s*#ACJP{$~_cNUL0q3ew_h%wziw>l_oSwzqR4I-8@!"
    "!*WY*T>xUfa(}y>`Ai%we@m1X_Y^ZU3?NhDs9d(?Xzm56!LP(**?t{5`=<lz0Zul+-wD|%)U6!Q-{{b7d>gz1DJ34<gY8@"
    "LJkN>+Q9z6`xAwCB~;|J0406UHPi3xi>q^|qzUVxncHjayaZbltF!{R~pPI&Jr@JrWf7E2$vnt2;X1M@F`gzVEU+_c{Kj)"
    ")Zjl?^cB+3h|wVED=?Gg#1kS7V>Pd>ZN`j_FmcT+%0T%hSiQV{ogq{6GaS3&`XGWv8RlVAQiIRMe*$n|4dxkO-&2U)bT>a"
    "dHt#juc5y(+BYI<<Z>fEz@{?;}&6=!C{aV^N3${<qtej^>Usi(&6bEBs@Mx!9s)7a7Eu1jCEA_CjZ|Yw(jn)<p0oz`YYY<"
    ")_ReE?epzS>peDhYM3aS4bMP>mte%P4K47-oB#9Qw-cy5_N?^YrwMQz+@#kvMFajw&v)bJCZSSu#$|X70ga79Hw1T*Apgw"
    "S>V3`xG_=&N5BB(r(+R~+<uoSvTWIJxk(czi<a>GRJOgifxQ!OL=7R`cS2a*3Aw%W>6r7(2p3mVwvNkw@i|2m5?&=zdBc}"
    "bl?>~$L`=v|tYY3gYmv8ParNHQo<bL&Q1o#jyPIH^=z@C-)oSu<?=t6pCb~~GdCa2y+Rht%Kp4CbDtqF^`zGi3R69p2kZa"
    "n(ccy|*xyzvMc^Z5r}y`5{>tpm`ZeSh+491R@Ic*HMUt3c1rDfXJt3NW?0nbV+5fT?|M?S=)5s3&;LX;0E9jH^BhTpeEyz"
    "c<L#Ubx5syzc#Qix>-v!X`E16PM<`XM4WERW9nUaJf^^K!J#t%3+lQG+5@Vko#rlBrxkF!^e8MaF=Y<M0(ylRJi^WIS}0r"
    "w5Xic%&ci#8TK#g^5a?fG=1+<3x@-qx`(>sv>U-q)<(!lWD+~yG}$cQF$SBPu1_7anZ;+KQp}!9T>L4`XIpZSil!y^qCIl"
    "EP|1pdVQ&_J(Gh&z+<3`XS6)erH51{zadQ>>8wX@kDW{{Wxp2(2z)T~WgQUb^uk&MrDBmws?C)BS?%sR8e;c4-*r3Kv-JR"
    "{QIba|-P=^Uh-N7@*LfH_P)R*@{hy)>|N9kYp=OEQID{E1rAA%bCGX^VWp?tJ7i6X|ry4~pviGxEx(%*iypqB%amA;2piV"
    "nk1y@P#WmR#HtPdiF<;bMk)3Xjsoeqgq57j6}9!9w46GgWC_SSQBJqpg~O@{>XI^KTir*!!C%HA_T6Et-nhRyx$#DT?op="
    "AxzC1@HN~3T)iCy!rc5J{GW}vUToPfx`{SGfym*@~#Fh1UZm#MQm5+6^#YRvkbCcR?-WdVj|P>BLr}%_5Qgfun8bGU%x?m"
    "0gh_T4E+fiLi>+O|M|HSL3TFNGF`VD`{gqejSVPJr)qMgjK2rV693xi(k8JEpR7r)8-h(dsa0otDR3=KeDktTOk96x+nLq"
    "IB;@mVa3``^urne=ImLent)l|<N`)C{xTq!QmpBPRZ#G_kn6-#HmvoyOpDkdy=$zf!buB1Rytaq0k^z=x-}y7eYw)>YWRa"
    "B{14G}?Sr!8%xYajv1$&0k;%&CALhLM%XEd$CsEg=(=r+tfn!v%QMt)Z^XdoB!DwdEzh8}U7a?$6*@WoF<fyZeIdsY;!4U"
    "eZHk3sf>Oo`iYaF5}={SRrV-daAi^#K=^Bh~K&sZBu3+W05WIm0O9rvJb;hJcxty|UfkXW_-HtzW=@gAf}a5s~t^669kZv"
    "Sp7q1Me9n;tRPUWZ307+?k&PY5Q$nO;?#{`f(&fwR{ks-LaGwY9)Y!jgYys3>}rdg=`(p55o4}Aau8J8WKNC5?kh(pi}M}"
    "LR{zqhXbdRq!$`dJmaK!^1vc&k59SOwVD8t?FZyKfeuA&|D9b$Wx~p-c*lyl0WdNAMeCKG!^8pm-P_t|up^TEV$~foD3b="
    "?ypI2eta1WhuL>EI=6<PY2aTenOTYAlWEcLJerHWSKaHcj&ohBMhibWA_Qs8L*xPXBWn|S5?)sQ4_4x-Kv~u$;zFCkkKX#"
    "Rm+e;#zZ%DfxImJYiThgi4`8jyxPWQjAmQmo}deW?0hJo@DNBm@b*=SQE=DU~gFHC)yGf69Lf#owYR=iRFK+euE&pBlg&Y"
    "5s;$@(*ZTE6v}Y1ltVlYGH%oHYk|Ck$U1{i#9GJdH-j^IS;MaJ8>_L4`Yo%VXEBqoJEq!A6ZQTu9D4&ZB&JsV;~M=@^{Gi"
    "RKfTYH~zu6~DUUXCMu;oeD-je;-HLD`AU!#5(Z6wYs4r#A&z>ABVF17U5)t=IO$QR8+rg%LrypLQ9kS3)4$Oh*l<oS4=6O"
    "5TR52w`T@l7ntueOJ_pE7)>i)q!U8opJ*fo=OV+o`uXw019&yi)~@OMI4C*1Z}cl5K}Fm#>ykJBp!o;ON8Bw5AMK=(+w2F"
    ">0w<oD?`TG&AFKa8QKMt6J5wd9X9U0aSy{#MPUD%_fE@2M8r<DRTv*ha#b}wAA)-s%ZTjb<1bZoG@1!MpcL>yCfY9NgscA"
    "oSPl=H13F||dycp44y+r(7XA-Ubg9>2*Nw<5_|A67v9NRX95pWRH6_Wo@gYF6kCtYH?(13sIWAiV=_=;{Tf>T_KpVLw;l^"
    "=s^w={mczM|pJn5@ldMzbI(mQ$m6h=taP0>|!aS3<?x+Yjz9aaN9f-R~P`*=W_C+V8C}3jrRJ$##Efc!s^qXv|{@`IDovB"
    "4TGisQoKNPU9mI<bIv_?8bm*^nCP%n2f!{AHo|wxLC8-<+#hnQm7;HniL6gP-a^Eoxn>j1njF4F72V>2eP_A=iLzq8asA#"
    "b29^tP9729S=|d~4|0`H*pncI|KtJNS~{2nQl$@6RzdO*4|+YO;07Zd^1CrQgeYz0*zr=(D7Z7GN~sz@lpQ$J<lKhJ%=Ip"
    "xG?)GyM{5Pg)G_d72={7u6Y)Ya+fApB4h$8uzwNDTI2Wel%=Y7gJ-^=D3-!(T(7;{KG_4)>&6l<M%Qu5;t2aBC(T8z`v^#"
    "ReEXc}U_i$Gb1xiO}$#F4JpwzT~<-a=<c-5Ssy<Vyff8<ssC+r=>y7qWIiLMzKc>yZ%V_f{Sj4<MCGzW&lNq^P`PQezRp}"
    "L3{bR4nPzV>yA3(sxQ++x3v3Kp>si#BcUM&erGWCMLRY^F|a`)0~q+Mm05lqJ74aL2uNb(66;W-8Xnf`(Pc7d-x*C&KhY>"
    ")ar>aXjMHxaQ~v4mJ&TR}f7&AY56z{(~+NwyOx96B!tQ)Wv-=x{rRtDO&u9%yufAk&lsPjgsJF_SravNCGr-@7t)=|A3j<"
    "7!~ej1`65N#@#%Vgt|=L{_V*Wba`Y<{o&OB7IGsZr-S=&!0fHd+pI4jk{>y5=}O0-x}Z|M`gXMFidlA9o`G?MWw&_TS>P9"
    "Kar&DJ9Zj=G(euC{1PKcGsh*fef&L8}2SwO$N8@ImQ^harK4$b5-*Dl?{+e^EOlZhkn-Z{T-3Z#>CwX0sZNUY{ciYRy>VU"
    "pN^@gi9V~Jz@UpTeRqgRonL(S8rJDkGj+2u~c!swjR|8(b3aEDT{!;?7}sGG1%Xh;P~w+99-Y7BHv8eX=ML5Dlr#alN&{f"
    "!6xFX-o<dyMneB^JZ|^Dup`na_7*0-I{KDpChIOPrduTr-6U%=6hw6&VAt+H{w`_Mse9vm&grG~)n`y>bEVMlnTBd;9&fi"
    ";!~VnRBN4IBKYp^4r)Xuv{*ur<T+STSkjpPhMo=xFgji>P{JOSDWZQDq(=s+zR{5Lo`q{h_9BuRSSi8J*~)sofu^tO0j=M"
    "z|{An56`jKC{dS`o3p<L0&o7F^tm^KLH`za9bCmkJHOYRZ*4d@QZQ!WElI*l3EABhp&Z=5?X27(BqGaQ)ulm$3GRAViYof"
    "4Sn@9V$l4{{U#%AN>Q^MAjEv>JwPY?dDMdc^R-gl)5VdT>(%<%r|F36l2n!<p*aUT}Y2@V#SmSIvh&=h%+_IPWd$<29nXd"
    "(NNHI2=Hg}>y+v|)y7hOqUk;?LHFP#8AdZ=reZV%pyx8Lt-KaM;56?p@rr!hS-U#Q^PBA84re<H9A@py>$s#;wZeEIb<T4"
    "o&wrldko@zUt{PC|hd5t|OHrQ<G9_3Od9$@#~Nsd^Z)=y&+FZys+32;aK4fr%o5oPD<jo8jgDK85_;d62y%*`3hXfxB)9s"
    "#kN^aJWcNzG&AFPK8<aZhA(=0eN}bEnb<BCWR$_(leO9>wR~nG70J&)NQvX^rHT289CWc^H5T?yKu&A1h0+M`Ao0m;Fdpa"
    "%>7nu4A^&hgY_^4*DI!~eI*RTx}P@c@4MN+d?j5rcbJZm)fb=Dr?Y_e!`T0Y%>??i-jCS%myADCHJQQT1Za#*Ja_%&B$$4"
    "^wUu>*jcUBs!v3x!DEz8LN!x>g>#vuH-@ZtI>{`J(O&<z)KG-yJYfS|N7WLTcJRxGBXWF`$@I|QX|B#Ff8k9Yb)Ur6u0NK"
    "KNxi3Xs*s75x@BfB_vO1+gP3fahQ&bqPCPcxYRi~OH4VQAfI$k+JY#hSUv%>`9Soo~r>w*@MhQYfZGdO!$C|YmPCt);!@y"
    "GWcF}pxQ|EtEP-`kj=Uo2xj>#zvBIe)5>#wMXg!j8D`f{ir3+eQ8N7D4P9{l{|SVOZW4{4=<94p-(x8qe>Yf`qQFPQt}zc"
    "<Q`j%e&}#6!~)WvASa&ww}*&>aqBXNx!5Yd$~}6J*J{w6!;g`hL5}yuKWwqJg-)4jb)-{i$-1<4+*zi?Wl?rn!{h#{(h+k"
    "S)jUS$fd=cj&;YJ4@8irVC9*8UMF6&QMl~jt5E2|l&hb!6N-s=Ib8F*|3d=iw6qOD3<U@4MD2@LPvSt$!^K|id+1ziVm{)"
    "<#?bM#%cOhe!SqyyrMAW(2x+D&u5kYj2fL1JJnbF@a=!aY1(q`);_xv8EdeSh2p6)<G^Q~|-c04%VG_iBe5S>|GJ&!!UWY"
    "s!S!m&xE)^0<$GmF0#6%ksl0#Ppdz3F=!Iq10m7A;Jkx!?Z7<n3HuGxP(^@$BD&C=ko#t7(0pDRlmXoI*1-=Zc9m=IglKg"
    "}$n;dExE&VKGJu23G#oV_rDixWDJqVy)P{pI@H3Rw;YeCuRHga*Qj$472=mk`iv$Yw4kYZh+YJhfiz9R=FUJ@&@t)?%<Nd"
    "-|HqIP_|Ga`_zFp|63JK7L~igC%c<7D;hY=G(8KuF9ppc8YIYA;18m{pLX{Di-kMNYA3($Q-I#JnKVO5+-T+-A;>QLG<C{"
    "y{xWD5boSv&24MNW$m)8^P9N{yn#0aEoeY*SRQjbdI-Yqui9tPyVQTIOF2E3jKMsLw!B&M_~oN?)t8qOSg=*|FH>s~8+LS"
    "yXIZpE52H-&rBVwTWn2tj{jm|(e0;j8_w53V@bd^iO6Y)1K>ht<_ZU7u*xu!G;UlgLe#zl{CP3B?--PV;MKDYqmoS!RV_E"
    ";saGw)1I6IT(*%vwoI~AFCI_3xQs7v_c@dr#07u-<S?8^kvOi51S3>yqLTz8N9vw*GhrulmtCxP})>x30)4oVi@KYKqohU"
    "2eH;&s*{zEP>)EEGPCo+~`tORVNl)Tbq6*^XhXse-K!TS>S^pmA^E*Kthieaw7aPl43^C(rD<R0ci5YU1(5Tyz<kq^)ryV"
    "?}gvpkr(~8eHDZCssXzbxDC$%!pZ7NfVy+Tr~(TI~PvvC*@<Yg24So(SG>x`l_%}ArrRINe0r58DO#cZ?sbEJO)+U&McQ1"
    "2Q&YtmAdRDZV;fZAet<q>gK>RtM5_pLrdoAD&icD?(P11`t%&$kT2)`614!-%#c@R(cK`tDMPz|!w`tf&bKzGl2ObjyRC!"
    "3!5=Ew`YrksD6L${SZBDzofk(b)rM2>RE3qH>BhoUW-dp9q}Tw~KAXMzm~j5R@X2$R+A;6e4!)hi?cnJZKyj%kgX8V(j}>"
    ")CaGU>GrdbLXCyL<9!E_4jI>yWl@R>mQdzuHmkdEDJC5V}>(>V6@_E|-3GF<Nd<Li}8hPs>AYajIv0IA>Ir&xjs3A3VCA2"
    "iQlm?W>aqbmm^r!&L(jp%T9fWIR@e;WS>G^ZYQ")
C5 = packed("float64", (3, 4, 4, 4, 4),
    "c-j@0c{CL67l$QDsHl)ODwPUR5{26$5wd(KTT-d0gjNY5ibP13sE{RV)~vafWM9Y5FlNkZ%n;d9{rvuY&wI{&&$*v_-{*N"
    "pYkbhbH;&|2rz3^l_JK8hPok^R4`2-+GZUMsMBCVxyj-Iw$W&LKym7e`<K$nONp>&YpCGxf_Z-1nZ_;1;-=M=*aZ1<;W;<"
    "qtv}a#Z8^ctkRiW8u2Qb%fn^?to7aR|CxS??CDH{L&P~WV~g%zgsOf@Sue6`mw%H`)Ei>n<a@VEgZHtb^WY8!;kA1&JrPt"
    "-zOOY-7!xiILm<w$(P9xN5F=$$4|LE-d1D_3nMy0MPG)w;pOCPOmcM?y6`9Qks8B8LE@D~4JBOh(Z|w5HUvl>z}%>T0g-b"
    "XYa`_*A+x2kg~oe#W^ua95~q-RzE5)QLT2)447In;c`}h1b`^<e>vc(qy<GP@w!<qBsjzc$g19P9sB0m|*Is2^yYi=yKsI"
    "av_0Qx#J6ygT>63nX^S5xD98vNyJc*mO3fXkVJ$MGfA&z5*^(}uDw>N>IV@&y}}0{GvV*)f2V?T#?bUE>)DeK3SOx*X#E;"
    "ef$^ujG^#v$@#mHQP7qDMW0gnl9e&mbp4(M&2zSx&S670%WdH%|X<w#>4ij;vZcoFRz;?J&;+$}ImW%@FNBsU66#?g|gy4"
    "0bHdsg$%@=15z`C&JQ6ZyYh@)v!lv>8Hivn}HQAB(`%@Hcp9{^@9<=7j$eq<(VOkEZsB7gHfbC(ap@HN`nf^db4>VKy!yD"
    "n72&cfQu5%e+0>vbM@;7fz*Ge$|q1Pb^WD2W-mj)2<CriRk)emtpWp6I==0cYIS2BuF8K*|IEhsaL`C8-Y2lPW9-muEWWl"
    "j`A`>pSIwt$ld(ApiJKLMzT{)_mBeO@{;pX|sjqez@K=T`IGSi~gra8(p1}@N;B@d%(&x3{08t-7Uk0eb-OTawr5)xPLYM"
    ">QFxfX>GIK{euZL58|BXFVf+O<(mEDK~zxvqPI-_QYjEB5(G6qazVtdXIV~AGFTSX_}^|B#n9aBd|wAPbi6b*babgg7rm2"
    "VSEdQr`>0PNWRihDrAjnhC^Y0xsfb1M4zLql^XG=+cQ6RmtWAC~27zmY|E8T9g%{P|swib-&~-L8uUp-Yp5Y3rLa8K_`8("
    "sbU|s{nu*!c-ITEZc$pY%*G1z`Kiu2u`fL*?!8NO~qsOY@X+m?@n%*B*xWy>MNIOed{1rC@jSL5x~Y(Q)8RGOMnD+D-fnT"
    "aqRK(RLt(W9<C7$<k(-(30_3PvUMrvD>=oHFS$|B7Z%Q{YN(Y8%2M3OQu%)p5wT+jP2qhJ@{V(oF8?4I!s$mrw3bBG8QYH"
    "%{JWVc^u_P3}@(&F%?2b-cud&3{Y{rN-&-@Tf~d+6V`|-#?>k%`*T63Q8v?8Bl)u_+9;I5`LiCI&C^h!ad$r%tM>W5Ohl_"
    "^-cm6ZmK)i*zqyY^T>pwIbSy{Mjy7ytZRbMdzZ!R-06@PYv4U?L<R4B2RbOXq0S{H;Zk`ioGkF1rkgO)W;ob0q-`A87uQQ"
    "}l&k@Z^ASoidQ188e!Tuy!Z;?Y^Q`=JuLqbmD}Q&m_Mz@ga-T&r5s#jmHPCZt!0Htb17Ew+K`Xs|s^ABGDeqHPOQ9R`a)|"
    "?LWmzztH)BfIEJNmO(}+$U7kuxWEvw9BVYPD&f7*Q(_*A@$w6`arz5nNhXSGx$9ecdT!sk8MtZXt~Fd4(qjHu@Y<y2I*ZT"
    "xRxun|-)5u@fm4}eBPx?qbr7u-7Tbs2;Y1KT&ladNr|t_&{T>h$XXjR)@A#v*AjyYuodjuHjd^?zs^?QKSjoZ#6ZA2QroC"
    "Cd)erea544*5$~KUnC`Wjb7-!#$DBL2i#3K)31U3?FB}KK?7&d!j~=H{9f^;dd@-he`zu)wV;p{m6>yf0dA|BPFxJZw%Q_"
    "Vu%ZAOjPkt+Ny8e4mXSSsIpfp&}a{3QNM?UA5!mCze*${Kkc?<&$$tN)#JXlM|m6<qTGMKUPA;it+dNOhRJZ2&hz5w{#Nu"
    "^G}~iznvA@r^uQa^L{P~-vA<uHje2_S+ixbaz*s}P&HqX-E~^t;yhq}I-)}`x>-Zt;xF6yv`=bIk%bT<G>c_!0|E{bMiM^"
    "C7J+lj)y(qAi9QAKH3y&pDxw4g5Kt8wYAtSyCRc0Pd*$t0iWp~WEgFS61BRc6<da@AbE24GpY#PKcog305${@@icD6d}&I"
    "P`4=`x;cb?|d4L#b#Z6E)2_Z&r=;!$d;k>f4WKXv>!q-!mT#sxCjh<_+`Uw3Us*Y{63f&A|-6%1l%hR&|!kq9C&@>!b}o2"
    "Xxfn;!`s=KCq7$J38Bg%8scs25YjhoO7<4!|Z|$!mIDPuV{hd%a%#YwZ|aAoX=wyXB<W4UFIei#-Klq^Dr{70l`!4yhY{+"
    "Jn17YbNRr6^g0<%s0ah<PJ+jw050}#KG8O8)d!{nds$i|P4HXNwe_J73;u;giygNdg&XoyDhs9@SbJ_#)^1=7IuuG9Yls7"
    "2RwY@+liG{xg`|Sj;#m-tbY$9qXA}c=+vTkg?!mzfw@nQpH83GFaY8sK4Gwhb`HZ)-!OXd*W!1?c6i-fdP7$D@ABoMAmPU"
    "f<1F=Wf-1v%@wCgQWkJ4dM(59ny-5^p7x%=neGoZ+L_|S^lQG7KmmD$b1#@*YMmTh!lAuF^*AV{?e?b<62sBQg<!Y12Hod"
    "ijEGh4>K`+gtv&nsNJda)O-q>qKR9cAM$|F+u?i0w%9Tv2@bLMJj}Rbvm!uu$h{k}IpC1ng!;qF%pcV|dQk{Pa3D3f8wf2"
    ">P*bZY(GJxFHo+wG)b~j2RG@rYhCb6Af)%#s^!t>7cu}L|$c{3;j+<^bBRHa3e9+X(BEc(vBT+Aik=^^^+vCzJp9q)HJ_1"
    ";r0d0>;C%e4Jd$pR~pp$?HbUegeUBUYZusTQ@w1lpN4PU2z`_8Eclde^&qyI3G3ts*Zu2cp~{YTLYnO(=t$SLX>{+w=cb*"
    "8I*Z-l7-^fji%P)4>A~vQ877$TJQ>JCCgHfRQ)|BaAfD3wY!>mE4(ps|wq7Z$z#+fsq^oP$ctv*mOi2<0pYFdELiM6UYP("
    "e@S92H<lF#?ru;8FX@%sB8$5C?Yy14vfWSA<VgmtUa;6#W|_Kq_YC^O8pD@?3}UV6*S=ZP^SUtORD_0^;5&FgxL7jqzYi("
    "}T?oGxInL}Ro3zo2HK(F@DGUI;nV>)w}^4l9+Tm9%umphk!9<8!q(RDKfnAk3SI9BTH0%l1*cev+QjEKJ2vv3(nI_=oYR_"
    "vvpX<qS-;&WYD~TZm4Nzo#~m$#CppKi}UQ9PlQ59K)A1D0M4vzLrIX|GYwGeV(&H-0JwlH-dDO@mJxw?Muea#)-I&u0m|N"
    "_i#Cn<^ZTo)o#-%9>!PUA9u?ojo}WdJ%{JI+aWgpzl2o;D*AiZrc_zeF!#uXkd$kKU_@=P<r4@&{`ZLqN#k66{`y(}{%>6"
    "%T`x?Ip#`I~@q^c;FMY6LZM#BcB^@Qres$gKr33kSj-||#G5k6Ac9)Q3E2ei!oizB&0#o7Z4_l9Z#l)hv1{>d2P_5$=Ya8"
    "U^UH3B4tnwQ4yv)ezSknp56%|9ynT@0BS8kd9U>Ss*{kWKu9EsUG8a%_ili{b^^9{T&zGIi$QF@WoIB2UT-Z$%D;f{CQCl"
    "qokYOOfaWfWZnLXVBf?YEi0T)p@1q{9%Bt3FH$zZk>Z1p=@BFbhlU=B+mBS7OrrQe8hE21s7Nd^&h91Fpz>;&QnroPT7yr"
    "=*7k7QQ(FPprCdSV=~^JCFtI-tXFM?!~~ikn4&s=RaaVVrcp?!BOD7IJ=T>fr{dFk2@kLJwTM4xNJ7ihOR>@F$XQaf=WQy"
    "V-I~g&SICR)*=Hms=m_uU$kS1M4R^q>uyMS5f<_B_c#==OYS<GwxQjj>O`R<BN!JI-2HmJFV>g^8|?R3noCxE<&MNi*w#L"
    "xZKXX7y72-pwA+|Kgla~R+tPeQYV*#$83j}IMW>A><H%xftDRXsh7G+dHYDDx#h+x!U~Cx2Rczi{^M+KI5GdMtK$V26hZf"
    "HWZ0bUlW(AS*H%xTde)@=S<p@-LNM6$~^#ipwEBp*t+8eLp2QbBnh7$)P=QlW0FhpVQwS`SQWXT-%6C=`aQ*F}Y!A*7OK$"
    "75;C=-w{sajh`AVGF(|JqK6OfU_%59!{}3?Cl3{FimR9dc{=`0Zcz!@3B=V2P(pWG<uF@#@ncL5}H|^QaN|%f-V~Gby;m_"
    "T`~nr^vYQeVd1k6A^r~csf=naIx~*a+Bw_-Ale<esF9m5p6y4M$Zq0!YUs#ip$t241e-IQ2&<;yUU+lHE~?>ih{Pp76}Rj"
    "C(jF3KIs7w&tFW}o&=ENmO2YQBcZM@XUB`><3Q0mpq|>vf@f-!F7ZEf5SQKDA!<*AD^^K-FQ3(-zg0Bpg3DK^JRz#%G|7T"
    "dkA#L<;c^UDFL4o9EXJ)}X89>^sIWKSg28@%Dr|T&@@L9}jm&?S$CJFM(5tmYf9eq%^BHg5pLpaTSH?1d_YE6HvRV|^Y$p"
    "R#LXJLpsRPXxH)klwk-=zEvLx2-3z*%|31qJvTjKKuW*CKvsm#a3wRu!<*ya3D<Zu@rjLGOx)Tu^m!X#tgVhx1cl54-TRJ"
    "Tc9e7oS$Rye*{+e&4R4?Lh1n0UP;Lt@d{YPsi?u-|(?!^dMBSfMc%A8rv~+vOh)E?o?C+FE6ipHGF8lGC<4VIx@2-T!(=3"
    "LDf6@4T+RN`()@K^savsVKd$(c|GG7Mc}D)rdT5!)8z3P^0w(%ycE}?wq9qBX&!VMo2c;2lG;Y$0p*w8iuoocMrsMI}~Xv"
    "`J;*f%j#WAJ6wM9O8D5>B|aW~ax5T|g9W_1;-;pkuv+KS7bjT`c=-Ki_Scetyf(5*`#Hlfxue&n!+IEZ@{fl+h+~4QWGrc"
    "Mo`G@2n{>}S4+X`qdvlHcvQUU8{9jK!3(RM>rs;|ogVtufC_RZrcv3xAvgOw}e67w%&6Vwgw>uAa>B~@HYRJyUo6UkncIY"
    "kkTLy}VS&UUEW<tWD$_;$^10e9qEoI%iBouO8$fNxp1rdi4(R%MOOfuKd<J&%jWtUu(JT6jk6OEqs^UokK2JCVf2QqQzfe"
    "ZO!bTU|y+^(5!uRz%YXN5X1C8L{ny10=y9oN*IWo%*fL$19|zrREa+KYBI(Y2HDW!PgX?E?b^gi{WHS2<*ehwn6OY6WCO="
    "M}_IVYY7gk5te&s2FeGyvnN`jCZGg{`H9tv7vfB#^)L6*Mfcn;r$qSV_B<$2N%3VqE-8fZepBZ%&=%>5WX@wp0zB7foc4|"
    "10H6!qP&wiAH`%CWqksxv=&qG9gn`Yz}+ScZ3vPR2_T|$Sp9JwpD0KXrbq1-9f5<ZGmO}}jd;BJ)3nyTyO{OVPtkq(|GoX"
    "jw}9>4z*CxK8<aPK1x3z>-K59h*`G%LU5rtfepp!lLK9KQrq;S7iUJKfYkC!z_NSbVi)}q08I^acIRw5b!1jE4;Z<=ey!e"
    "#;%Sn_8GoM~OpiNWIvG1#lfFBb!Nc=qJr_u!f^aAf$Opig+Bg+Y|W(qO{7b$BF6~KXF$*w393P|XX<!`*>g51b1u^*~G;Q"
    "N_Z6}nGHQ6z6Q-FH6|#eYscyK`q4s`S;0Bg=arAmUZajtCM+IRz{}GiN{pYi{~PM=PFw)~&a2lL;F9nx?g?qmV(#HfRZ}f"
    "g_ox#J4S@!tJYhQHiHVk!mI=EkhlJlO4|ggno?R()$bEsk345={NoNJ4bN3c;e!!;CvJ?8;SY0)aTA01Mio8YJkpdYX9nq"
    "4REYqOryGt1Ie0kzW2WkgZgyD?wf-Q)HhRgzn54AtYq%zh4tMKaKt{kL#_w;$nkMM3=w~S{#)U@<U?0<t8LU=DY!9X{hHp"
    "jd0-)Ob#Y)f86@Yj@2O^W;BDoX7p)Aa$aty4_#08ablzX$a$o>|I-Xr$qEUy|Y6~6tKS}5&r#yW95Dj@}5AQKJMF7p&{fE"
    "z~^h5u5%9GmDwP;Vc@O`W9XFM@ImsE7Q6PpObDZ*<QsMqoFzZXJWxEm-HVVKYZq(i5!mu-m#=N+>LyDX`AQ<~_i%I<<vq2"
    "nGRJalNiQc-x<l?sY?nf@1wM$n;^s4k>Wg==0b2N_Hv`j-{*UV6#FURkB~I%@{19bD)B{dOPvIErqKyWW8B8Wkm`(umNtT"
    "sZj%jRr?9`m~n59EF#G&d*W^qiEAt*`Y2>fDW?@Ii$Da*!RdVBbdMi%Y@gt$?9Zu<hQZ-r$|8Q)<bDYdl_iaQg>qW9u7S4"
    "<n$+I(||q8x-%;}j=?;svhVkHLr9REd6Hr*?&-;=Z1_xuw6CYe2s_)La(p^<rS}-j-4oLM???`qpD<Zg!CwY~wzaD+iL`;"
    "PmO(9MwBd)=Pm_GJM9BZRo&NxTA$o@0wDMo#fprIqwtfunfN#DJPDv4Z@WcDBIkg+cuu9%KCwYB4{LOIKAEVd~ckHIT;!g"
    "F#;WG(FM-o^-^_>|i6{LdYUyY;ue_C*sXK&}E0t-$yM3a5bw82EL-x{&KR4fhWYgoH?1oq{LEq4g`j-^Upg&a*tP`9@6<U"
    "z?%EG9S_$BgviXfUID_r-c3+oc*xjrTzG?VjI3b7UAcvNSB8ABS7+8>jQ*X+T{x-}UHxKWfHIMmBe}!M+UHzm+?OAWq2Vw"
    "X;|xsB_uMA#dtHPS0AUFqw<uUqh^=#;LgPkQPlToQvUUYv#A;HiB%OtfrxUJboME?GsQO2ZtePp>HqfFmrHa#_9kzS};rg"
    "x~`={!M_#Leo0-J`y(Y)vWASM@&<}IOaDXIr&Xu7$~GfQ^i@?(*C42!Z#(kImWcaOzH|;|EpcqbEZM(^2&Ws2R7m&wa9*w"
    ">otI}6;x!E}SeG%Nt)l!+`v@03FSSR?4fcT5^s|`Zws9E!eWd2t?J~@K^ENFggn;3j!+s_8*1$!TM5Z~J2F}hp0Uc|YIDP"
    "KTyYg3g81GKz(SJOMvO$Nn8D?X+_a1j>Z*dov$NX>$7wv(?b^(i4BL*(kDPH%AuLpnqRHDWq68hYfeH>%hfHU8fjOJ{+p("
    "E;PO1s=B&Kt6Bx%V?bHT!mi!`fVUMOB>_%Oc~R)B!^E_9cIMnDI>h2Nwg)G!)Y3sZek3RbW~=4$DWBzRlRs;CRHPLyl}$J"
    "aEUj??F2Sw(KwowEVNgfwGaCn|5}i^y!?R3HRPX(aYb;Zqiiz#F+QBaA1MWJ&y6Zlf6)h@oNdyEXXf>=<#f4E40ooC^R>7"
    "VBaEf+e91*?cW!!UJ;ZJb3GUB+8$7`@a?Ae^E=3JX6|t6z!xeUclpJq8_B^WFZYP|m$=|w$emM^Xn=LZs%hIs8s3VIc*Gw"
    "|f`gOIzM&db=q&FfU*Gfvbbqq)pFgF+HP@u(eYyl}kv@O^jS>rs4k(;y{=&j<YfnW=m$zXu$#-}<r3*?ldxf?ob^y&`f_q"
    "}kAcT0W-EZYXL2vo)tLeo|I4hwwV6NAI-@m*%uUlUS9s%zDna`LY@29E7ktSe<^7}m2>sm-E>q|85?#Jiy8&>h~cYw*2%h"
    "3~w{U8(^_1ykG1z6H+b<NZ{sJUSzGjgZ{e$po2&DHk7{{Y)%93B")


TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|
    "float16": (0.001, 0.001), "bfloat16": (0.016, 0.01), "float32": (0.0001, 1e-05),
    "float64": (1e-09, 1e-09), "complex64": (0.0001, 1e-05), "complex128": (1e-09, 1e-09),
}


def observe(value):
    """All of `value` that is compared, as plain data."""
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"type": kind, "length": len(value), **{at: observe(item) for at, item in enumerate(value)}}
    if isinstance(value, dict):
        return {"keys": ", ".join(map(repr, value)), **{key: observe(item) for key, item in value.items()}}
    if not hasattr(value, "requires_grad"):
        return value if type(value).__module__ == "builtins" else type(value).__name__
    facts = {"type": "tensor", "shape": tuple(value.shape), "dtype": str(value.dtype).split(".")[-1]}
    facts |= {"device": value.device.type, "requires_grad": value.requires_grad}
    return {**facts, "values": np.array(value.detach().cpu().tolist())}


def differences(name, expected, actual, dtype="float32"):
    """Where `actual` is not the reference's `expected`, a line each. Nothing broadcasts."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [key for key in {**expected, **actual} if key not in ("device",)]:
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
    expected, actual = run(torch), run(on_device)
    if isinstance(expected, str):
        sys.exit(print("cannot tell: torch", expected) or 2)
    found = ["torch:xla " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
