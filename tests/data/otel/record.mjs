// Makes vercel-ai-4.jsonl, -5 and -6, as record.py does the others: `node record.mjs 5`, in a folder with these packages:
//   npm install ai4@npm:ai@4 ai5@npm:ai@5 ai6@npm:ai@6 @ai-sdk/openai1@npm:@ai-sdk/openai@1 \
//     @ai-sdk/openai2@npm:@ai-sdk/openai@2 @ai-sdk/openai3@npm:@ai-sdk/openai@3 @opentelemetry/sdk-node \
//     @opentelemetry/otlp-transformer
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const here = new URL(".", import.meta.url).pathname;
const load = createRequire(`${process.cwd()}/`);
const version = process.argv[2];
const ai = load(`ai${version}`);
const { createOpenAI } = load(`@ai-sdk/openai${version - 3}`);
const { resources, tracing } = load("@opentelemetry/sdk-node");
const { JsonTraceSerializer } = load("@opentelemetry/otlp-transformer");
const { context, trace } = load("@opentelemetry/api");
const { AsyncLocalStorageContextManager } = load("@opentelemetry/context-async-hooks");

const script = "import market, time; print(market.serve(), flush=True); time.sleep(60)";
const server = spawn("python3", ["-c", script], { cwd: here });
const address = await new Promise((told) => server.stdout.once("data", (data) => told(String(data).trim())));

const memory = new tracing.InMemorySpanExporter();
const provider = new tracing.BasicTracerProvider({
  resource: resources.resourceFromAttributes({ "service.name": "market" }),
  spanProcessors: [new tracing.SimpleSpanProcessor(memory)],
});
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const stall = { type: "integer" };
const schema = (properties) =>
  ai.jsonSchema({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const given = version < 5 ? "parameters" : "inputSchema";
let tries = 0;
const tools = {
  find_stall: { [given]: schema({ stall }), execute: async (args) => ({ stall: args.stall, free: true }) },
  price_of: {
    [given]: schema({ stall, day: { type: "string" } }),
    execute: async (args) => {
      const late = "the price list did not answer within 10 s";
      tries += 1;
      if (tries > 1) return { stall: args.stall, eur: 38 };
      if (version < 5) return `error: ${late}`; // an exception ends the run
      throw new Error(late);
    },
  },
};
const openai = createOpenAI({ baseURL: `${address}/v1`, apiKey: "none" });
const answer = await ai.generateText({
  model: openai.chat("scripted-model-1"),
  system: "You answer questions about a street market.",
  prompt: "Is stall 14 free on Saturday, and what does it cost?",
  tools,
  ...(version < 5 ? { maxSteps: 5 } : { stopWhen: ai.stepCountIs(5) }),
  experimental_telemetry: { isEnabled: true, functionId: "market_agent" },
});
console.log(answer.text);
server.kill();

const request = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(memory.getFinishedSpans())));
for (const group of request.resourceSpans) {
  group.resource.attributes = group.resource.attributes.filter((each) => each.key === "service.name");
  for (const span of group.scopeSpans.flatMap((scope) => scope.spans))
    for (const event of span.events)
      event.attributes = event.attributes.filter((each) => each.key !== "exception.stacktrace");
}
writeFileSync(`${here}vercel-ai-${version}.jsonl`, `${JSON.stringify(request)}\n`);
