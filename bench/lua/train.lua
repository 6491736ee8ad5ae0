-- Training workload: parsing, tables, closures, strings, numbers; argument = rounds.
local rounds = tonumber(arg and arg[1]) or 10
local function words(n)
	local seed, out = 12345, {}
	for i = 1, n do
		seed = (seed * 1103515245 + 12345) % 2147483648
		local len, w = 2 + seed % 7, {}
		for k = 1, len do seed = (seed * 1103515245 + 12345) % 2147483648 w[k] = string.char(97 + (seed >> 8) % 26) end
		out[i] = table.concat(w)
	end
	return out
end
local function count(list)
	local c = {}
	for _, w in ipairs(list) do c[w] = (c[w] or 0) + 1 end
	local keys = {}
	for k in pairs(c) do keys[#keys + 1] = k end
	table.sort(keys, function(a, b) if c[a] ~= c[b] then return c[a] > c[b] end return a < b end)
	return keys[1], #keys
end
local function queens(n)
	local cols, d1, d2, found = {}, {}, {}, 0
	local function place(r)
		if r > n then found = found + 1 return end
		for c = 1, n do
			if not (cols[c] or d1[r + c] or d2[r - c + n]) then
				cols[c], d1[r + c], d2[r - c + n] = true, true, true
				place(r + 1)
				cols[c], d1[r + c], d2[r - c + n] = nil, nil, nil
			end
		end
	end
	place(1)
	return found
end
local Point = {} Point.__index = Point
function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end
function Point:add(o) return Point.new(self.x + o.x, self.y + o.y) end
local function parse(s)
	local stack, sum = {}, 0
	for tok in s:gmatch("%S+") do
		local v = tonumber(tok)
		if v then stack[#stack + 1] = v
		else
			local b, a = table.remove(stack), table.remove(stack)
			stack[#stack + 1] = tok == "+" and a + b or tok == "-" and a - b or a * b % 1009
		end
	end
	return stack[1]
end
local total = 0
for r = 1, rounds do
	local w, n = count(words(4000))
	total = total + #w + n + queens(7)
	local p = Point.new(0, 0)
	for i = 1, 20000 do p = p:add(Point.new(i, -i)) end
	total = total + p.x
	for i = 1, 800 do total = total + parse("3 4 + 7 * 12 5 - * " .. i .. " +") end
	local s = 0.0
	for i = 1, 40000 do s = s + (i % 7) / (i % 5 + 1) end
	total = total + s // 1
	local buf = {}
	for i = 1, 1500 do buf[#buf + 1] = ("%d,%s"):format(i, ("x"):rep(i % 5)) end
	total = total + #table.concat(buf, ";"):gsub("x+", "y")
end
print(total)
