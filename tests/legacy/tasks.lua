-- What bench's scripts do little of: errors, coroutines, metatables, patterns, formats, collection.
local function deep(n) if n == 0 then error("deep", 0) end return 1 + deep(n - 1) end
print(pcall(deep, 150))
print(select("#", table.unpack({}, 1, 200)), pcall(string.rep, "x", -1), pcall(string.rep))
print(xpcall(deep, function(m) return m .. "!" end, 20))
local co = coroutine.wrap(function(a) for i = 1, 1000 do a = a + coroutine.yield(a * i) end return "end" end)
local sum = co(1)
for i = 1, 999 do sum = (sum + co(i)) % 1000003 end
print(sum)
local v = setmetatable({}, { __index = function(t, k) return k .. k end, __call = function(_, ...) return select("#", ...) end,
	__add = function(a, b) return "add" end, __concat = function() return "cat" end, __len = function() return 42 end,
	__eq = function() return true end, __lt = function() return true end, __le = function() return false end, __close = function() print("close") end })
print(v.x, v(1, nil, nil), v + 1, v .. "", #v, v < v, v <= v)
do local c <close> = v end
for w, n in ("one=1, two=22; three = 333"):gmatch("(%w+)%s*=%s*(%d+)") do io.write(w, ":", n, " ") end
print(("hello world"):gsub("o", { o = "0" }), ("x"):rep(5, ","), ("%5.2f|%-5d|%q|%x"):format(math.pi, 42, "a\nb", 255))
print(string.pack("<i4z", 7, "abc"):byte(1, -1))
print(string.unpack("<i4", string.pack("<i4", -5)))
print(utf8.char(228, 8364, 0x10FFFF), utf8.len("äö"), 7 // 2, -7 // 2, 7 % -3, 2 ^ 0.5, 1 << 62, ~0, 3 & 5, 1e15, 2^53 | 0)
local t = {}
for i = 1, 5000 do t[i] = (i * 7919) % 5003 end
table.sort(t, function(a, b) return a > b end)
print(t[1], t[5000], #table.concat(t, ","))
local weak = setmetatable({}, { __mode = "k" })
for i = 1, 100 do weak[{}] = i end
collectgarbage()
print(next(weak))
for _, mode in ipairs { "incremental", "generational" } do
	collectgarbage(mode)
	local keep = {}
	for i = 1, 50000 do keep[i % 100] = { i, tostring(i) } end
	print(keep[1][2])
end
print(load("return 1 +"))
print(pcall(load, function() error("in reader") end))
goto last
::last::
print(math.tointeger(3.0), math.type(1), math.type(1.0), math.ult(1, -1), tostring(1e100), 0x7fffffffffffffff + 1)
print(os.time { year = 2000, month = 1, day = 1, hour = 12 }, os.date("!%Y-%m-%d", 0))
