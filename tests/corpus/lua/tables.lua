-- table, coroutine, math.
local t = {}
for i = 1, 1000 do t[i] = (i * 7919) % 1009 end
table.sort(t) print(t[1], t[500], t[1000])
table.sort(t, function(a, b) return a > b end) print(t[1], t[500], t[1000])
print(pcall(table.sort, { 3, 1, 2, 5, 4, 9, 7 }, function(a, b) return true end) ~= nil)
local names = { "pear", "apple", "fig", "kiwi", "date" }
table.sort(names, function(a, b) return #a < #b or (#a == #b and a < b) end)
print(table.concat(names, " "), table.concat({}, "x"), table.concat({ 1, 2.5, "z" }, "-"))
table.insert(names, "lime") table.insert(names, 1, "plum") print(table.remove(names), table.remove(names, 1), table.remove({}), #names)
print(table.unpack({ 1, 2, 3 }, 2), table.unpack({}, 1, 2), table.pack(1, nil, 3).n, select("#", table.unpack({ n = 3 }, 1, 3)))
print(table.concat(table.move({ 1, 2, 3, 4, 5 }, 2, 5, 1), ","), table.concat(table.move({ 1, 2, 3 }, 1, 3, 3), ","), table.concat(table.move({ 7, 8 }, 1, 2, 2, { 0 }), ","))
print(pcall(table.insert, { 1 }, 5, 2), pcall(table.concat, { {} }), pcall(table.unpack, {}, 1, 1e8))
local sparse = { [1] = 1, [2] = 2, [4] = 4, x = 1, [1.5] = 2, [true] = 3 }
local n = 0 for k, v in pairs(sparse) do n = n + 1 end print(n, #{ 1, 2, 3, nil, 5 } >= 3)
for i, v in ipairs({ 1, 2, nil, 4 }) do io.write(i, v, " ") end
local big = {} for i = 1, 5000 do big["k" .. i % 777] = i big[i % 1234] = i end
local s = 0 for k, v in pairs(big) do s = s + v end print(s)
for i = 1, 5000 do big["k" .. i % 777] = nil end
s = 0 for k, v in pairs(big) do s = s + v end print(s)
local prox = setmetatable({}, { __pairs = function(t) return function(_, k) k = (k or 0) + 1 if k < 4 then return k, k * k end end, t, nil end })
for k, v in pairs(prox) do io.write(k, "=", v, " ") end print()
-- coroutines
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end return "end" end) end
local g = gen(3) print(g()) print(g()) print(g()) print(g()) print(pcall(g))
local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) error({ d, e }) end)
print(coroutine.resume(co, 1, 2)) print(coroutine.resume(co, 10)) local ok, e = coroutine.resume(co, "x", "y") print(ok, e[1], e[2], coroutine.status(co), coroutine.resume(co))
print(coroutine.isyieldable(), coroutine.running() ~= nil, coroutine.close(coroutine.create(print)))
local order = {}
local a = coroutine.wrap(function() for i = 1, 3 do order[#order + 1] = "a" .. i coroutine.yield() end end)
local b = coroutine.wrap(function() for i = 1, 3 do order[#order + 1] = "b" .. i a() coroutine.yield() end end)
for i = 1, 3 do b() end print(table.concat(order, " "))
local function perm(a, n) n = n or #a if n <= 1 then coroutine.yield(a) else for i = 1, n do a[n], a[i] = a[i], a[n] perm(a, n - 1) a[n], a[i] = a[i], a[n] end end end
local c = 0 for p in coroutine.wrap(function() perm({ 1, 2, 3, 4, 5 }) end) do c = c * 3 % 10007 + p[1] * 10 + p[5] end print(c)
print(select(2, coroutine.resume(coroutine.create(function() return pcall(function() coroutine.yield(1) error("in") end) end))))
-- math
print(math.floor(-3.5), math.ceil(-3.5), math.abs(-4), math.max(1, 5, 3), math.min(2.5, 1), math.fmod(-7, 3), math.fmod(7, -3), math.modf(3.7), math.modf(-3.7))
print(("%.10f %.10f %.10f %.10f %.10f"):format(math.sin(1), math.cos(1), math.tan(1), math.asin(0.5), math.acos(0.5)), ("%.10f %.10f %.10f %.10f"):format(math.atan(1, 2), math.exp(1), math.log(10), math.log(8, 2)), math.sqrt(2) == 2 ^ 0.5, math.pi)
print(math.tointeger(3.0), math.tointeger(3.5), math.tointeger("8"), math.ult(1, -1), math.huge, -math.huge, math.maxinteger, math.mininteger, 5 // 0.0, -5 % math.huge)
math.randomseed(42) local r = {} for i = 1, 5 do r[i] = math.random(1, 100) end math.randomseed(42) for i = 1, 5 do assert(r[i] == math.random(1, 100)) end print(math.random(5, 5), pcall(math.random, 2, 1), math.random() < 1)
local x = 0.5 for i = 1, 10000 do x = 3.9 * x * (1 - x) end print(("%.12f"):format(x))
local prime, count = {}, 0 for i = 2, 20000 do if not prime[i] then count = count + 1 for j = i * i, 20000, i do prime[j] = true end end end print(count)
