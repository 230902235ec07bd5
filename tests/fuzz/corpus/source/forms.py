@d
async def f(a, *, b: int = 1, **c) -> int:
	try:
		yield from [x async for x in y if x] or (lambda z: z)(a := 1)
	except* (E, F) as e: raise E from e
	finally: del a[1:, ::2], *b
match x:
    case A(y=1, z=[*_, k]) as w if w: pass
    case {"a": 1, **r} | None: global q
while 1:
    if a: continue
    elif b: break
    else: print >>f, `x`, 0777L <> 1
else: exec "x" in d
with (a as b, c): x = y = {**m, 'k': {1, 2}} if n else not -~+o ** p
nonlocal q; x: int = 1; x //= 2; f'{a!r:>{w}} {{}} {d["k"]=}' "b" r'''c'''
