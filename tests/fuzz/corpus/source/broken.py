a = f(1,
b = """x
  def g(:
	： "c
) ] }