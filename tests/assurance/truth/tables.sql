-- What recipes fill: one row for each usable row of a source file, as its mapping says. `seq` is the order of loading.
CREATE TABLE sources (source VARCHAR, license VARCHAR);
CREATE TABLE ranks (source VARCHAR, rank INTEGER);
CREATE TABLE texts (
    source VARCHAR, item VARCHAR, seq BIGINT, iid VARCHAR, name VARCHAR, alt_name VARCHAR, brand VARCHAR,
    category VARCHAR[], product_type VARCHAR, identifiers STRUCT(scheme VARCHAR, value VARCHAR)[],
    attributes MAP(VARCHAR, VARCHAR), day DATE);
CREATE TABLE prices (
    source VARCHAR, item VARCHAR, seq BIGINT, day DATE, channel VARCHAR, kind VARCHAR, identity VARCHAR,
    currency VARCHAR, price DECIMAL(20, 4), list_price DECIMAL(20, 4), units BIGINT DEFAULT 1);
CREATE TABLE figures (
    source VARCHAR, item VARCHAR, seq BIGINT, indicator VARCHAR, value DECIMAL(38, 20), basis VARCHAR, method VARCHAR,
    day DATE, pedigree VARCHAR, year INTEGER);
CREATE TABLE factor_rows (
    source VARCHAR, scope VARCHAR, code VARCHAR, indicator VARCHAR, value DECIMAL(38, 24), method VARCHAR,
    basis VARCHAR, year INTEGER);
-- Lines of files that no load can use.
CREATE TABLE refused (source VARCHAR, file VARCHAR, line BIGINT);
-- The operator's acts on items.
CREATE TABLE withdrawn (iid VARCHAR);
CREATE TABLE merged (iid VARCHAR, survivor VARCHAR);
