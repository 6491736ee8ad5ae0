-- string and utf8.
local s = "The quick brown fox jumps over the lazy dog"
print(#s, s:upper(), s:lower(), s:reverse(), s:len(), s:byte(1, 5), s:sub(-3), s:sub(5, 9), s:sub(0), s:sub(10, 2))
print(s:find("quick"), s:find("o", 20, true), s:find("(%a+) (%a+)"), s:match("(%w+)$"), s:match("()fox()"), s:find(""), s:find("", 100))
for w in s:gmatch("%a+") do io.write(w:len(), " ") end
for k, v in ("a=1, b=2, c=3"):gmatch("(%w+)=(%w+)") do io.write(k, v, ";") end
print()
print(s:gsub("o", "0"), s:gsub("%w+", string.upper, 2), s:gsub("(%w+) (%w+)", "%2 %1"), s:gsub("%w+", { The = "A", fox = "cat" }), ("x"):gsub(".", "%%"), ("abc"):gsub("", "-"))
print(("[[x]]"):match("%[(%b[])%]"), ("THE (quick) fox"):find("%((%a+)%)"), ("  trim  "):match("^%s*(.-)%s*$") .. "|", ("f(a(b)c)d"):match("%b()"), ("hello.world"):match("^(.-)%.(.*)$"), ("THE fox"):find("%f[%a]%a+%f[%A]", 2))
print(("%5d|%-5d|%05d|%+d|%x|%X|%#x|%o|%c|%e|%.3f|%g|%10.4s|%-10s|%q|%i|%u|%a|%%"):format(42, 42, 42, 42, 255, 255, 255, 8, 65, 12345.678, 3.14159, 1e20, "abcdefgh", "left", "q\n\0\"\\", 7, 8, 1.0))
print(("%q"):format(1 / 3), ("%q"):format(math.mininteger), ("%s %s"):format(nil, true), pcall(string.format, "%d", 1.5), pcall(string.format, "%y", 1))
print(("ab"):rep(3), ("ab"):rep(3, "-"), ("x"):rep(0), string.char(72, 105), ("abc"):byte(-1), #("x"):rep(100000))
local p = string.pack("<i4 >I2 z s1 d n j B", -5, 513, "zero", "len", 1.5, 2.5, -9, 200)
print(#p, string.unpack("<i4 >I2 z s1 d n j B", p))
print(string.packsize("i4i8!8d"), pcall(string.unpack, "i4", "abc"), string.pack(">i3", -2):byte(1, -1))
print(utf8.char(72, 228, 8364, 128512), utf8.len("häß€😀"), utf8.codepoint("€uro", 1, 3), utf8.offset("häß€", 3), utf8.len("\xff"), utf8.charpattern)
for p, c in utf8.codes("aä€😀") do io.write(p, ":", c, " ") end
print()
print(("a,b,,c"):find(",", 1, true), ("x"):rep(3):gsub("x", { x = false }), ("%d"):rep(2), tostring(12):len(), ("10"):rep(2) + 1)
print(pcall(string.find, "a", "[a"), pcall(string.gsub, "a", "(", ""), pcall(string.rep, "x", 1 << 40, "yy"))
local parts = {}
for i = 1, 300 do parts[#parts + 1] = ("%d:%s"):format(i, ("z"):rep(i % 7)) end
local joined = table.concat(parts, "|", 2, 299)
print(#joined, joined:sub(1, 30), select(2, joined:gsub("z+", "")), joined:find("299:", 1, true))
local dumped = string.dump(function(a, b) local c = a * b; return c + 1 end)
print(load(dumped, "d", "b")(6, 7), pcall(load, dumped, "d", "t"), "a\z
      b\x41\65\u{20AC}\
c" == "abAA€\nc", #[==[
long]]string]==])
local h = 0
for i = 1, 20000 do local k = "key" .. i h = (h * 31 + k:byte(-1) + #k) % 1000003 end
print(h, ("b"):rep(5) < ("c"), "a" .. 1 .. 2.0, "\0x" > "\0")
