-- The basic library and the language itself.
local function show(...) local t = table.pack(...) for i = 1, t.n do t[i] = tostring(t[i]) end print(table.concat(t, " ")) end
show(_VERSION, type(nil), type(1), type("s"), type({}), type(print), type(true))
show(tonumber("0x1p4"), tonumber("  12  "), tonumber("z", 36), tonumber("8", 8), tonumber("1e1"), tonumber(""), tonumber("0x"))
show(1 // 0.0 == math.huge, pcall(function() return 1 // 0 end), pcall(function() return 1 // 0 | 0 end))
show(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, 2 ^ 0.5, 1 / 3, 10 // 0.3)
show(3 & 5, 3 | 5, 3 ~ 5, ~3, 1 << 63, 1 << 64, -1 >> 60, "10" + 5, "3" * "4")
show(1 < 2, "a" < "b", 1 == 1.0, math.type(1), math.type(1.0), math.type("1"))
for i = 10, 1, -3 do io.write(i, ",") end
for i = 1.0, 2, 0.25 do io.write(i, ";") end
print()
local i = 1
while true do i = i * 2 if i > 1000 then break end end
repeat local j = i i = i - 1 until j < 1000
show(i)
do local n = 0 ::top:: n = n + 1 if n < 5 then goto top end show(n) end
local t = setmetatable({}, {
	__index = function(t, k) return k .. "?" end, __newindex = function(t, k, v) rawset(t, k, v * 2) end,
	__call = function(self, a, b) return a + b end, __len = function() return 42 end, __tostring = function() return "T!" end,
	__concat = function(a, b) return "cat" end, __eq = function() return true end, __lt = function() return true end,
	__le = function() return false end, __unm = function() return "neg" end, __add = function() return "add" end, __sub = function() return "sub" end,
	__mul = function() return "mul" end, __div = function() return "div" end, __mod = function() return "mod" end, __pow = function() return "pow" end,
	__idiv = function() return "idiv" end, __band = function() return "band" end, __bor = function() return "bor" end, __bxor = function() return "bxor" end,
	__shl = function() return "shl" end, __shr = function() return "shr" end, __bnot = function() return "bnot" end, __close = function() print("closed") end, __name = "tea",
})
t.x = 21
show(t.foo, t.x, t(1, 2), #t, t, t .. "s", 1 .. t, -t, t + 1, t - 1, t * 1, t / 1, t % 1, t ^ 1, t // 1, t & 1, t | 1, t ~ 1, t << 1, t >> 1, ~t)
show(t == setmetatable({}, getmetatable(t)), t < t, t <= t, rawequal(t, t), rawlen({ 1, 2, 3 }), rawget(t, "zz"))
do local c <close> = t local k <const> = 5 show(k) end
show(pcall(error, { 1 }) , pcall(error, "msg", 0), pcall(error))
show(xpcall(function() error("deep", 2) end, function(m) return "handled: " .. tostring(m) end))
show(select("#"), select("#", nil, nil), select(-1, 1, 2, 3), select(2, "a", "b", "c"))
show(pcall(function() local x = nil; return x.y end))
show(pcall(function() return 1 + {} end))
show(pcall(function() return "a" < 1 end))
show(pcall(function() return #5 end))
show(pcall(string.rep, "x", -1), pcall(string.rep))
show(load("return ...", "chunk")(7), load("syntax error here"), type(load(function() return nil end)))
local env = { y = 3 }
show(load("x = y * 2; return x", "c", "t", env)(), env.x)
show(next({}), next({ 5 }), type(next), assert(1, 2), pcall(assert, false, "no"), pcall(assert, nil))
local function va(...) local a, b = ... return select("#", ...), a, b, ... end
show(va()) show(va(1)) show(va(1, nil, 3))
show(tostring(1e15), tostring(1e100), tostring(-0.0), tostring(0 / 0) == tostring(0 / 0), 2 ^ 53, math.maxinteger + 1 == math.mininteger, 1e308 * 10, 123456789012)
local fns = {}
for k = 1, 3 do fns[k] = function() k = k + 10 return k end end
show(fns[1](), fns[1](), fns[2](), fns[3]())
local function tail(n, acc) if n == 0 then return acc end return tail(n - 1, acc + n) end
show(tail(100000, 0))
show(pcall(function() local function f() return 1 + f() end return f() end) == false)
show(collectgarbage("count") > 0, collectgarbage("step"), collectgarbage("isrunning"), collectgarbage("generational"), collectgarbage("incremental"), collectgarbage())
local weak = setmetatable({}, { __mode = "k" })
for k = 1, 100 do weak[{}] = k end
collectgarbage()
show(next(weak))
local finalized = 0
for k = 1, 50 do setmetatable({}, { __gc = function() finalized = finalized + 1 end }) end
collectgarbage() collectgarbage()
show(finalized)
show(require "string" == string, package.loaded._G == _G, package.config:sub(1, 1), package.searchpath("nothing", "./?.nix"))
package.preload.mod = function(name, extra) return { name = name, extra = extra } end
show(require "mod".name, pcall(require, "no.such.module") == false)
show(dofile == nil, loadfile("/nonexistent") == nil, warn == nil)
