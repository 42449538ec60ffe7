-- refund: give back one charge that is not counted after all.
--
-- KEYS[1]  the account's counters of the day on which the charge was taken
-- KEYS[2]  marker of that charge; it holds the units
-- RETURNS  { 1 or 0, units used that day }
-- WHY      Only a charge whose marker still exists is given back, and the marker is deleted with it: a refund cannot be
--          had twice, not for a charge that was never taken, and the counter cannot fall below zero.

local units = tonumber(redis.call('GET', KEYS[2]) or '0')
local used = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
if units == 0 or used < units then
    return { 0, used }
end
redis.call('DEL', KEYS[2])
redis.call('HINCRBY', KEYS[1], 'n', -units)
local burst = tonumber(redis.call('HGET', KEYS[1], 'b') or '0')
if burst >= units then
    redis.call('HINCRBY', KEYS[1], 'b', -units)
end
return { 1, used - units }
