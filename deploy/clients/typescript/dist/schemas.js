/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */
export {};
