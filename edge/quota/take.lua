-- take: charge all windows of one account, or none.
--
-- KEYS[1]  prefix of the account's counters; the UTC day is added here, because only the store knows it
-- KEYS[2]  marker of this charge: the same charge asked twice is taken once; it holds the units and their second,
--          and nothing once the call was refunded: it is then charged anew
-- ARGV     units (0 takes none and returns what is left), units a day, units a second, seconds that a marker lives
-- RETURNS  { outcome, units used today, units used this second, day of the charge (since 1970-01-01), seconds until
--          midnight }
--          outcome: 1 taken, 2 repeated (already taken), 0 refused by the day, -1 refused by the second
-- WHY      Read and write in one script: between a GET and an INCR another edge would let one more in.
--          One clock, the store's: edges whose clocks differ would otherwise disagree about midnight.
--          The day is part of the key, so a counter cannot stick, even if its expiry were lost.

local second = tonumber(redis.call('TIME')[1])
local day = math.floor(second / 86400)
local left = 86400 - second % 86400
local key = KEYS[1] .. day

local units = tonumber(ARGV[1])
local kept = redis.call('HMGET', key, 'n', 's', 'b')
local used = tonumber(kept[1] or '0')
local burst = tonumber(kept[2] or '0') == second and tonumber(kept[3]) or 0

if units == 0 then
    return { 1, used, burst, day, left }
end
local marker = redis.call('GET', KEYS[2])
if marker and marker ~= '' then
    -- Written again: on a cluster the reply waits for the replicas, and only for what its own connection wrote.
    redis.call('EXPIRE', KEYS[2], ARGV[4])
    -- The day it was taken on, which a refund lowers: midnight may have passed since.
    return { 2, used, burst, math.floor(tonumber(string.match(marker, ' (%d+)') or second) / 86400), left }
end
if used + units > tonumber(ARGV[2]) then
    return { 0, used, burst, day, left }
end
-- A single call may cost more than a second's units; it then has the second to itself.
if burst > 0 and burst + units > tonumber(ARGV[3]) then
    return { -1, used, burst, day, left }
end
redis.call('HSET', key, 'n', used + units, 's', second, 'b', burst + units)
if used == 0 then
    redis.call('EXPIRE', key, 93600)
end
redis.call('SET', KEYS[2], units .. ' ' .. second, 'EX', ARGV[4])
return { 1, used + units, burst + units, day, left }
