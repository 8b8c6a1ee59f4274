"""log2: v1 differs in value between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_unary[name='log2'], trial 1 of base seed 77.
torch:xla: NumPy gives -3.23216623 at (5, 3, 3, 2), as torch does
Compared: v1.
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

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.log2(x0)
    v1.backward(torch.tensor(C2))
    return {"v1": v1}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float64", (6, 4, 5, 4),
    "c-jq?c_0*O7skhoVP=>yOAD1OC9+m@CFLAjxd=%`C|k-c36ZRk%2$b0vXmv2HA{=Ng>)|x5sB<e_BA79`{wWWpZ7fHJkRq"
    "p@`uw2M1H&^RLBWnkuXay{#o5kE|{&n+v!ePhQaeKeuAAGjQO<R@_8H^xB1M5dto2g7%E<9*-1wi?x*)nd2D=3o?buoN(e"
    "Kf4DY8cE`$4ds(L1cjkk_(PmjCV1%f3Bk*a6-FfD@->2i7*G;P=Zolzr#KMW(CW?nM!(ED{Iar8ytW`)hYTK)m?mQpv5{<"
    "8$@SNP<t8+st%`hA1j+H5R8!x||FWn!pW61RoOhr%V@U4_abxcM&4drW%>KD3BuQ>W;-lGXgDFo=l))g?1#RU~w~Yr)Am&"
    "B6N_g9Qnh^Wb1>9uu}S3yTW@efuN^;o*UzV4pw+24_|){_8RW5l>nUG|F+%lx=r!rdt?wd)#if#V<q1v%1R(@5ngzBz)~g"
    "9SVwFiE4fRoQ#bgn_kGj<44hzE&tIO(=c>n?`T0W5r3tN8Xi+>gtBgDc|8UZ9o;4-9VVB-n<8f*`*9qq*K(6n{^i4$4^Nz"
    "1tR>(M(Qm&#Xb>=@(n7SmwHG!_EU0hez5}-XX5(flA+#_HHt=_+;jW`j3ez!-uu9xABSeyjuS~9L&W%vfE4$rkjyeqGf{H"
    "};dSP6%MKr3oe*{#0LTf6o3Zaj}&~>Kl2%Lwo?z%Y^mae(!^(p=*Xr=Gbvu<T$if3EOqYEO4o46?_0+@(LE)B^q3!=*G*<"
    "7pK-_Y)1E-ih6gHm^XFCX-n1F?x@4+Gs!aEp7lwA+k@;=V2L)M*Zs)V6&qddtRF%`e3nCc=2EfHY>1%RuSM70DG(2Bt>;{"
    "+;?z0P{YtI*~KY!hz6nVK$SA_q&Un^pfg8!q`?sYc)U0`>B*Z$>iWg3Fq!b(-qht6T9GGPRA{Bf%hXeE<)rv)gu)R1Mq=7"
    "C$9B+5q>z`Gbj^fBWlYPHf^Hd)^6{_l(ZJeYJcD@`BD%W3u$>~o`Ptrb1%*%fQ9BWOj(f!T+muq9q*gA0143{-_61n;o9~"
    "0>-V1-f?h*CO;af%j=oVz$_GJ|zp{Uq;UN<G$ZmCJNHFl|<@6{|{}~{*D%1Py*f>nR^YrUB8g_X2PPurnadTMts>z*P_;z"
    "ikwM~P8Rw+T3udv&|>k*fFyNZU6d|7*~IV7w<l|NxK#l#C^XC?0Y5pbQrA#IW#6}v|RW99i+czSeJL)St8XQ!EIjLCA)a!"
    "lSUy23$v@!Ob!zscBka{t2|Z9Z&D?oFSUrQ@dUf!?XfE3j{N)ahn26@8VSv=22fk#<9LM}H#=>-RqQO6(z`+$!<%CtF0YL"
    "U?~tjM*rxI_}<ZaZCu+mn}+fcC+#N%bD`N^mg#AwY}Z+fr76?yLW%DqTr{Rf?PEn0lca6*rw003UZ8&SuTDOz}V=tmn04m"
    ")1L|X2bBrng0bYof`0^1;yD*H&e8FtQQ=S~Z!R_DEP4B~QQ0(k)#HP6Q1_lT=l+s_nnLVH9<gLhHaKuY@+uo|lWw_aS+P*"
    "xWV>hFb>4mDe>(6gj*jB{)>dczGXoco%q?yxU}N-?QRnYx1abU}m|9WL7<jH+)Uw_(0s+(@brzG2{dP?w>K?pzRgsN1N(C"
    "{-U7)ESnOLYW?mpPfKr{0jKKEX;aLt7}heUe;lrC~@WTtR|{qN{!y4Qd3=n%K~bubAvW~JOhwWw&n=TTyM+yanW+J0tuu`"
    "u5x&t#((2}@I+><`_x3_X2S%rXZGdYH!^NS0iI#ZNw6n`k4@?OH2D6YT@L`xPVfM{JbZN58v9WEOU}x-vdw_JdDySh4oZ4"
    "D2rQ(x_aT29={CiYi|1aME<IjjkRGjhj0*{;zit`p(rg=hVzYS95fVS`8bs?FP;s?CgiP3x@W@Uo<R!5&NJvj)OPkH8wx|"
    "%tnh){TqR6m%&)afA3fC8E`L|+vBFhk6AU=`wdEk@zO}pRi!}=@>Sc(9*&@3Nc7Lxv}fHgLB7IhoM7R12S4{0UxYE+UPET"
    "J_bhbCY5d$5#=svB7_AsAf-=<sfq%ymkwTff@b1JMd`;g{llrj}!dU(ngpRku2LajP3s*V#U()B~hJ{wpCXru7|HDRy=P~"
    "wyMr2&2{JWCW_W?ehR(;S_$n$wq2t)ZdFSny-kIxSBq2YJ2)HV7H47obvqGe1(2N^jPVFClyoh7Bb4=^y`UX$6e>mukk8m"
    "utO^F@J)tqgsDi7}DR)SK3W!2PwYcz59<XiuFp8}Vo1WUX=b4@VMCZ7qq2{6fK)w$P#zH*0{F`thr0vmge_jM&af&Vpr+x"
    "@)OVC3sxzsr*2igsG-cQ&|&1{B>k%Pm&=o$5@TS8GHVKL*D}DoAVqrN<MY3bEcuJP65ZnnSr|wA8qmE?P>Yi-N^dPKERsL"
    "n)x~=hOayOwOy4DhXT}-rmg0{?(NTt%|;ZA4Uu*|m`z1~qpw++mIH8``s1gQJRcrU?U!|2n1Jf+`Bq);3CP`@qikoh0KIn"
    "4%{K-2!5Hd)HDb*}cw+5hcFrQS<`#_3%*_JzZKbR3qYenzPq@L>;ltXkq*sYZN7ank^0m_wurAQPqcBzkbA&2hj=kpjb=@"
    "wJ*m5RTBuIAjsZ7JS?2Mka8ZK<Nmn4_2CSl~YT7l6e3XT(P!f6>(kY~J@F=|7=*b%?Ym#pcS5)plyP*Vziw;*PHB?rYW=R"
    "E)Tor2Em*EFwG31Zk4d#U(X0(LpnmW!Sz<L&m<+FKtnu&A?kqfGN8XtvSQ7O51}G7$}~c-IDwKU+72=Y4_lf@|LS`xZc<_"
    "r=M3cUgF`*H=l7un5*c-yF>dWW3}%>EbRTgje8+c*$rRY<+KeGH(+T<qq&i=j<WizP);7FGdHTrJcA2&yN8uDrwyR)F7N2"
    "FG#TJ;ztS1)TrF|T$pa9du(~l#%cpbTL6KDh4o)v&u?O(Phv<zZ1OLdiU*_5#q%H<X|U;P0?+pntHZ*r*{I5RcDi7agjMH"
    "Xtuq~<qK=;L&YE5lW-vJ&#Pxq5;Yonif_o1%oIR*o|F9SK$-dI+p|SAHNYr7wWEP69KBSix)Cvd3qF#Fbrr?Y0BkXZWK`b"
    "K8<&w`b(O7sQVx^0U+B4h3Y>U{)y&>(Cp~uFDT|d;WPSMc6$3i`Z#>ASb619sACe}%(-qk+AMx_-Qcm5<6Haf?}riWI+@="
    ">KWbs-k^-I+=WXR%N!;kYTahlz$|Py2IgczW?YA1UpafE}i4_a}GugK%Qco5Kt`8q4Y0)Ohi@VmSVXdI}47?Oj`@)y~2M$"
    "KV|u?i>tu&P$ZrC4fKXQa^@{QZRYDi&jgV5bkiY&5t}Kgfx1sil4<GKzz&PZ2m=1(&P)5@MNP*?Te75c>%2Lqgd)^Gy!?|"
    "*8bQOe$<lpcwfJF8RiqXXKXvTz_jRDe#*-~r>4J1EKLHAFUWL`?`i?*^?&7fR8dj>KjrD&9zy7+pb$T)OvCOx^82HsL$Jr"
    "3b!4p+86(y)OM6}ru;<9or-A+T;Mwq<xQ8HsQQorgv(9w9=+u(k^@xU+${}A~^RGY&VInHJo(qs%m#Ztn!7rWLEN>iM0DT"
    "o~e#_&yLeDbyv4Ji~vsPF;a-D*{Vsh69ve`K3WVJ*HYy!a#0|rNS@L|Xke)X#d=b<8dIHW3qi5+%Jl1=4(VAv&7@hp;oP7"
    "luev8zYGK10ECJnsjHJ&d6?*fLS~QqYN&Wfoo+vk%*MkPjp3)zlhS6L3qxyZ>JIQt<^89aq`T#s!*0ij5}`m#N=d0$u-ro"
    "k+y_lPbLb8F!xTt)^r5WpBY;p+3-2Hgh*g><2O5?jb7$Vf-$TbU<L7iKa1P>)L|^G3x1Dw6bRx<kZ%>9T<B9t;I#+_w#vr"
    "yG0yVH0K~eaK1RSsuL1Ft!((DzW|*a1MW0y2`t)&FaA6>1<bc3vG8w#s3HD`mBj1onpG8#`+2;OynB-E7SsnhU-l|yQG4L"
    "0(Qw(Nj3tQG4JHx?MbKMz*-hG-f+yd698u)mUsU>1XSEFt{mj4B$;eSLOKOdusKpe}*S?v#D9z(rW!X2A#sWwlaob>Xj)-"
    "0ld%BN)=0f>%9}c;ehC26-+GM42P&7^7r^vDuY!qy(I_n5{_==(gw`TxUHO;q2kZAa<=<%VkFe)Y#AKS3ef{o_-3-x#Y6-"
    "4{wE2Rx9d<csbpLfMF(Pfpvr5PJG%Gnn9lk`epX~A7a*`I_vI1aVKJf0nO)bG>kA|UNg|ADNiKfqCXW?Lrl3lxI~)Q3%)p"
    "il8kN$X=i?A<+kph#W-)eWs4A3MlGjnaXl3C-Wo>8|tY)N3XNX?T7V;`#iZteq0WMF8_h)0T@{h{&%0dhs9bBJ}>{(C~2m"
    "FKEs$+;Zp-8;y7LG!F_=(B;;e!O}Y%6j#k+pX74z^QBWZWM47{rini4!cmwQJZ>~*!odd-o8>op&p{5I@ZL~`pVyz#dYf<"
    "aA?uDV;bQ{@yQ!gyzg0N6qxjf$WzQktGtse159i<}FL8Ie6$#g7sZ=%}W}>L4>0^HvVRQ^TbTXgUGs53LWF#CVW8J%r@Aj"
    "++q4VSYr`ME>gXC$~t+qx)ynRwn>{Q7L5F@uaY1Yhu<2IMP;ZY9ez1+F%Z$QEK8_$s9@_Ruw;DzWqDc)QemC{RXWbD%UyK"
    "}UR*Ta9shFNCvbeVFk$pa?3W(wK<&f(y<Q&o<)J`gbNaDkI$8Ue#|-|8;$_@pb@e}jou3DhP|I19N_&`oZa>|_ledh45YW"
    "lsNs(kge+#{zS(YNF+S9F>6o2c&VxTm")
C2 = packed("float64", (6, 4, 5, 4),
    "c-jrthd&hz9|iD?q(L+!rHquyDoRv-R*_OD4JuTRT_m9*4Jo3h6pHXrWJF|Sl%MQzjqBRu?t9&RiFzxQx4+?>&-Wbezw;9"
    "pv&V7aN!S?1XG5R+yh=68Mo3_tm>H$;vH8Kl{Fh=nddF|SBIsmbzJbY#!D2dg)t`MkdSnoG?VtUTv_Xu=mjt5wFA;id`D3"
    "mb!h@gWKAV$v6o_itxPD5h0y$ki^pU76Ov+py(Z%V3$_KaHimf<UZ8b^|6;0sfs?R0<aV#+2EoJ_Dg$P#J`PM)1rvaQ?=l"
    "YmO1*5M?A6*TF$n<tw>6pPr>lmLGF$?RUxhJT9TB{#QYGwZDX^o*b^LwB&Ckv14TCn#pK?F0wXWY~Rt8w0YHxpN$Gbk=>J"
    "<ZCeg7CQHeCY!;(Dq~y0?YDor^)<Rd*lWo{}`va++q;Ibl&M@PY5yiP*RU#lmO||JAF<J48xB<eW8SxG|0adL#e$%z!G()"
    "d4072gi0G<mMV$iTT92yIDIZ|8_k`riW|XB|GPXdQzisQ)kMtRYz2?E(GFof6ObEMT^JMj31(0IAZQ(*fX|m);<Sp!Feli"
    "2;0kvH0;l%LXQVUnrsTfO786`FN*-}EU(dj}=J%nF?d>pBBzIVL+egq)h#z<Q#Kg%7PtVLGA;vO`3YxqLxMxq3$D{Z<u$G"
    "}EshXA{b^KS<DXXV&cN<6L%qBXlF7g;leoh5e?u)42kU{jmp0jo|jEA|!QJ*V5m%zfiT7326bVv&}@QU6?!M$f1db01a;L"
    "w#T-tV4rvG^5xucQJOzuN@{$D4ct--dsZpLMq2<3*M4Z(q-a2HK=cV!8-!*Snc_x6>giG@ypSXX3o7CI0=I|3K?2sQLV^0"
    "v6HFRz(+cG0~+XEh=#Yv#wnUGwvdT_DW@8!!j;z@nH{-$OzEe(C=4zJp&_N`3zS^GC<{s+5WP_oyd!jm!h5_;C3-{`_dov"
    "7@#vaz5c8SEKfBxk@H${RxwdCri=x0dcSrlI?^HfzWFlQzqyW$8tT2-&cI!bp>H?5r(&!A#)%;LawwboykoOfBT#zJ#Fi6"
    "yV5&(Si|3HxAmzyfWm*hzOWw?_elvmL9wGUh*+z&zDcY=^KZd-r+oAd4qad?>?p<Ix6)Vz-TJ+3Oh@s8ByBjnCE1#f2kKH"
    ")h-*O(!YwN>McH8y?K^&O!KH#y&kO$+ZNzXnJ1)#$w&|mtqv8!AEV0E(?r_EA7rJ(>Gjpddte!|54_r~SEw$Lyszy9oq<O"
    "CX(MCi6z^0BolaM|OV*?5Lb;&O|~xY4gIr<B(Nx#FpFCK`EI7@=|_HHi-kyjDsi8w<d5nVmB0&mg>4UUA*vSO-3D8GL<CP"
    "zL$WYz>MwwcsrYQ~N|W2A*Bd(zclqqUKKzigSS&+DA&-g^naR_rQ9+<a-`^`xKs@)D`2k@yEf2Gyxbm<&gi^mjgP1m(L#("
    "GjZ|3j`$^i7!dDu{n(rz8}f7h-IZwZ8Lii(kfq$|D5HJiIxkp^E`hHWNt)Lq^M2!w-33i>F+)OY_Gur!O)+DfOy}W;&adn"
    "2g4kd{xco-k!9=sj(<VR`BNR=#s@MtP;zC~osYnt|jxBnoJzs<lH((9*OCelv%ZeYgsX?8sIZLn3Yl2LR5Dl+kI_y_C$_i"
    "a7!Y@g|+;z?aaFINy4Ix4})b9DOyet*Tw|g3U)rY}_p!WLkSTh#fx3>w6VMCXxN~udSADL=Kj=`P+3~Eh0ec6EsTg<}V+r"
    "AZG+4{Bnr&JJwQae%)8gcMT(az#4%1!80K1Q*;A;e|R6I#kQG0;JBnQ{I|7T7m%*c9Udbhsp{-{0~S^Lh@MUHj65yZ!9*Q"
    "gx~D<%oomO;IoC9dA&uU&X-k<b(3BkM-fo)ZIkSV-(yH?lKzL*@)53lcuA|9DG5Pj|sNog9kN)BeoMmYj96QbZI4+IQxwp"
    "p6tVv!#Q_P6tQuj>W*#7C>b>0jNZSvPykP+uT!HZhVb>+)#h-28qP}^GOAwW00GYewAVeNL3*m6ag_1|F3c{zb0~lhKf_A"
    "39R2?G@%FXN)u%{6ue^|Y$%&29{4}R+j%Apx=kC4l76%)Z<fNyG6__^JJ^$te4KhzA4@T+?;Kr2O_nz2NK-*$W_l9Z#Cj3"
    "^3{()RPCp**KUQdC&ccPlMAqih+J-PSg4-Hp@t5%;*tj1n(PScGb8Y*-ZXST9Z(dE?g#KNH-*kGl}oX&59`pd0PF1ZYYig"
    "s+3eby*spw#hRH377nG;FMD8UVw?l&GF>RB*Dt^|&&DhSe`dfBS0CFp5u5^B<_e-b4N-I<hRRwQPUMw;;jjSGmuF-^H-<U"
    "oT&p91Se*a7Xmz2spq0mA;hh0P238uez&-g89d`UA=733%@)`b&g+!c=zamH{SXTpqI2aZ1Cws^Y2~l%id3**Pj%#-g6w7"
    "DNk3mxK)bog-O#>oA~(K;uvkfn1m^-N&>pa$q=C)7`A+=5PY(}*`J>s!<r4UA}t~Ze)1>J@Vg0kfWpp`e$9YwtsM;)_L7m"
    "w*vn#{tcSFjYzbw#zkB)ddpGQ!z}e?*=c=mN5WHv8)&<ON2uZY&8gCnbot&NidJpIrTaY!nQ==Yzl^<CTe`rIm@cC=%YN^"
    "op^~~4CBLrxrU%D41m5GfLLH*%b-Egp_xY+y-A82dVO8uitL}FcR-CKtNjFG-!tKc<+K|d?V?QLB+{#37S2Xzn+Jqy?%cc"
    "mLDdwx%8Zm$KyPMOQ%SpjTNmAJ1FT#5A+MV*v~bj%`?l2_{wf`5of-i~ZK&h`gT_g)ji+_Y0pN+A_Iinctk4I9IoEB@d^;"
    "SexMg`~T-HMmRcnpnKM1RQvg2_Zu-Q0z`{YU>oi_<oPd;eIj>)X!e%Y#4)3qkD?7AtK1$@0-y0frLy6_v{DcQk<{3WJdbz"
    "2s&>fXUv}L#WLIDp6ACtV0FWD>#FcZR1EYdcervO;qpAAN9-odXmY3ehEX9htg<vHfDZXvni(J7wqtI$KHu^g8#6|nb8O^"
    "AV8JA^7oQ);|4H(RW;1-4%7|TMJUoP^)$fMcpQw1@;fJo<#4bqCoFoLtk|AW<stSd43K+8thC??9;Gw&9+1EA!tbQ)enVl"
    "1WO87@>Zx=c)jD9NVEMkBf{TSc-C>OuAJok|6r(u7*M*Qk;BB<Q=F+_nb#82C(%C_T7IDWk1%?X>oyLsDnw8Cu=Gv@j9x%"
    "G>Iiqe}&1<ygPv9o<>T!40Q+jnV{i*OV5r7ra;71%XlF25zHe?7H!8V|~X{`9<rpC?4{v30%T8hH*bFlg(peJB8_HF;|v@"
    "8Lph(%c54m3(x+q-<wgoesL0`LLSFfFdWOFD*7B&|5ZjaMLFa64lO~AV>G&*R^}(d}n#UPH!H(B>wB{4QAwToe|L6>k_i8"
    "b`V08J?0<%>vQ52NA;b@dr&ncdBr~OL9|@$waq+PgtE17?@Wg<@x5lmS^1*Rc*=*RIPsnZTGumgk1F)xoS3brQpthud4A_"
    "T)jt5|h}3~6IwDjsE;#!3T|TT|&|>wLO@|dF{75wu78?5JNq?!M!MWY1=s|8wG!aZnFR~ZFr!5a?VV8!m-|~_oKdu))YuK"
    "1cgp;r!{e?iUp9zZwzxQ@)HlwL$>(Hye-v4^z5KDT<L<ORjx5T>yl+^8sPLpAxV_(*e^{O;b;r}D?uBs7Z4~t0`vipEADx"
    "bQX)Cnd})wN~|L}2^L;A%*DKHeX^Q<v<;0@u=u1sO{jU~4nVk903UUTd2jiPwhG+x0uT{{C_6_(c(h|JB2F(fyJiR^zaR;"
    "oQ6Ynh4Wtuic3l?1y3vKXvxCLeRh9-SSa^3zm^X&7OT!^t$$aYq%>FB9^PKeUKu8k`qNr|9i=Ut(_`8tB%lsXqRN&vvwT!"
    "T{!-1?I|KwKCadI!4%=Rt+>H3i-=0T4##Bec=&Kq!|8(t6P(BzZg(RZF!yq8pq4!y8Klb<Vy+PS&zgR$sVAXqlF`u9lR3C"
    "Cpebox4G&u$5|-P|3gPneYR^X!OyF2(_rG$eg=M808V7y37^1{5QuG;t9-lBmCZ^%J4MxUQ3Vf7M!n14-0UVCJWz^ft$DA"
    "jY@wSU8@SoF{jPqWx_*ik>2k-x~K~1=)TT(3vzNCuy{Sm#esK550V~ZHo^o>C+>k*pTPfXg_bt5xNduzc+EuNOXnKpfjhx"
    ")!Uj0HVh;3x&%<E_cTL?`8`eOpOL-l=1v#1P|-+u<&?D~OnHG(pOB8H8nKMjidCVl)s}-M{3Q177OHU2t;(X#G1@b7lun`"
    "k$b+hV$51ofsJ0XF<T}^#5!ETp5tad7QvLK*X3hr|hdz6kMp0_HXwuGETDExBWcL#NY)o_C}IoY`lJT|D8v5Fs1a(u(PfQ"
    "xv`rK#>f=BnL59^ltqMHi*;vc>SDBzYjzME;6UKB&=Yei1rX$M;Z49X8kY0)PMi9S;E&fC<K;ON)bW?MDm+I=hrISp;kgO"
    "O{C=;nzOousT^BfJxpQGrhWcSLg9N(sn1O!ln4ohcz{EAW6^IKLB_tb=a5qrboS$LClI4ajdK3cuWD$E`UmSt;&H-lC25g"
    "x6@!EaQ2R?{o#!Po~G4V)4@H0%|gNydpCv3(TZ2lGYU_l@YwphJ<r<XDSKh~H=mH2T%OD3@LB#Q;PS5HmpIcA|kP^o<W>i"
    "?k6!1}&@c{j|&>#oRjEx{PY*OR&X$MI#$r?|>BOjPxi6UuN0uq43at6Ucw-lqp1U4nEhFg1{In-f7tjoH!)Ss^4@ZI*YT^"
    "uu&$-Kk58LP%?t`_ol4g8v7=YchH")


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
