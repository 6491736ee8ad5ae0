-- Test workload, other programs than in train.lua; argument = rounds.
local rounds = tonumber(arg and arg[1]) or 10
local function fannkuch(n)
	local p, q, s, sign, maxflips, sum = {}, {}, {}, 1, 0, 0
	for i = 1, n do p[i] = i q[i] = i s[i] = i end
	repeat
		local q0 = p[1]
		if q0 ~= 1 then
			for i = 2, n do q[i] = p[i] end
			local flips = 1
			while true do
				local qq = q[q0]
				if qq == 1 then sum = sum + sign * flips if flips > maxflips then maxflips = flips end break end
				q[q0] = q0
				if q0 >= 4 then local i, j = 2, q0 - 1 repeat q[i], q[j] = q[j], q[i] i = i + 1 j = j - 1 until i >= j end
				q0 = qq flips = flips + 1
			end
		end
		if sign == 1 then p[1], p[2] = p[2], p[1] sign = -1
		else
			p[2], p[3] = p[3], p[2] sign = 1
			for i = 3, n do
				local sx = s[i]
				if sx ~= 1 then s[i] = sx - 1 break end
				if i == n then return sum, maxflips end
				s[i] = i
				local t = p[1] for j = 1, i do p[j] = p[j + 1] end p[i + 1] = t
			end
		end
	until false
end
local function tree(d) if d == 0 then return {} end return { tree(d - 1), tree(d - 1) } end
local function check(t) if t[1] then return 1 + check(t[1]) + check(t[2]) end return 1 end
local function lz(s)
	local dict, n, w, out = {}, 256, "", {}
	for i = 0, 255 do dict[string.char(i)] = i end
	for c in s:gmatch(".") do
		local wc = w .. c
		if dict[wc] then w = wc else out[#out + 1] = dict[w] dict[wc] = n n = n + 1 w = c end
	end
	return #out + dict[w]
end
local Account = {} Account.__index = Account
function Account.new(b) return setmetatable({ balance = b }, Account) end
function Account:deposit(v) self.balance = self.balance + v return self end
function Account:withdraw(v) if v > self.balance then error("poor") end self.balance = self.balance - v return self end
local function json(v)
	if type(v) == "table" then
		local o = {}
		if #v > 0 then for i, x in ipairs(v) do o[i] = json(x) end return "[" .. table.concat(o, ",") .. "]" end
		local keys = {} for k in pairs(v) do keys[#keys + 1] = k end table.sort(keys)
		for i, k in ipairs(keys) do o[i] = ("%q:%s"):format(k, json(v[k])) end
		return "{" .. table.concat(o, ",") .. "}"
	end
	return type(v) == "string" and ("%q"):format(v) or tostring(v)
end
local total = 0
for r = 1, rounds do
	local a, b = fannkuch(7) total = total + a + b
	total = total + check(tree(11))
	local text = {} for i = 1, 600 do text[i] = "lorem ipsum " .. i % 17 end
	total = total + lz(table.concat(text, " "))
	local acc = Account.new(100)
	for i = 1, 10000 do local ok = pcall(acc.withdraw, acc, i % 13) if not ok then acc:deposit(50) end end
	total = total + acc.balance
	local m = {} for i = 1, 40 do m[i] = {} for j = 1, 40 do m[i][j] = i * j % 10 end end
	local s = 0 for i = 1, 40 do for j = 1, 40 do local x = 0 for k = 1, 40 do x = x + m[i][k] * m[k][j] end s = s + x end end
	total = total + s
	total = total + #json({ a = { 1, 2, { b = "x" } }, c = "text", list = { 5, 6, 7, 8, 9, 10 }, n = r })
	local co = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(i) end end)
	for i = 1, 5000 do total = total + co() end
	local g = ("the cat sat on the mat "):rep(60)
	total = total + select(2, g:gsub("(%a)at", "%1og")) + #g:upper() + (g:find("dog", 1, true) or 0)
end
print(total)
