// Makes the reference of the OpenAPI document. Everything that would leave this origin is off.
Scalar.createApiReference("#reference", {
  url: "/v1/docs/reference/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
  showToolbar: "never",
  documentDownloadType: "both",
  hiddenClients: true,
  persistAuth: false,
  metaData: { title: "Reference · Item Index" },
});
