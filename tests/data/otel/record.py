"""Makes the spans in this folder: `python record.py NAME`, in an environment with the packages that NAME lists.

Each is what a real instrumentation wrote of the same run, in OTLP JSON, except that resources are named by their
service alone, and stack traces, which hold paths of this machine, are left out. The model is scripted (market.py).
Ids and times differ each time that this runs.
"""
# mypy: ignore-errors

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import market  # noqa: E402

LEFT_OUT = (
    "exception.stacktrace",
    "langsmith.metadata.",
    "llm.invocation_parameters",
    "metadata",
    "system_prompt",
    "system_reminders",
    "terminal.type",
    "tools",
    "user.id",
)
"""How attributes begin that tell of this machine, or hold what vendors wrote."""
EVENTS = ("user_prompt", "api_request", "tool_decision", "tool_result", "assistant_response", "gen_ai.")
"""How the log events begin that are kept."""


def exporter(path: Path):
    """What writes OTLP JSON into the file."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Exporter(SpanExporter):
        def export(self, spans):
            write(path, encode_spans(spans))
            return SpanExportResult.SUCCESS

    return Exporter()


def provider(path: Path):
    """A provider of tracers that writes OTLP JSON into the file."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    made = TracerProvider(resource=Resource({"service.name": "market"}))
    made.add_span_processor(SimpleSpanProcessor(exporter(path)))
    trace.set_tracer_provider(made)
    return made


def logs(path: Path):
    """A provider of loggers that appends OTLP JSON to the file."""
    from opentelemetry._events import set_event_logger_provider
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.sdk._events import EventLoggerProvider
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import LogExporter, LogExportResult, SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource

    class Exporter(LogExporter):
        def export(self, batch):
            write(path, encode_logs(batch))
            return LogExportResult.SUCCESS

        def shutdown(self):
            pass

    made = LoggerProvider(resource=Resource({"service.name": "market"}))
    made.add_log_record_processor(SimpleLogRecordProcessor(Exporter()))
    set_event_logger_provider(EventLoggerProvider(made))
    return made


def write(path: Path, request) -> None:
    """Append an export request as a line of OTLP JSON, which has ids in hexadecimal."""
    from google.protobuf.json_format import MessageToDict

    def told(value):
        if isinstance(value, list):
            return [told(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: base64.b64decode(each).hex() if key in ("traceId", "spanId", "parentSpanId") else told(each)
            for key, each in value.items()
        }

    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told(MessageToDict(request, use_integers_for_enums=True))) + "\n")


def anthropic_loop(client, run_tool) -> None:
    """An agent of one's own on Anthropic's client."""
    messages = [{"role": "user", "content": market.ASKED}]
    tools = [
        {"name": "find_stall", "input_schema": market.parameters("stall")},
        {"name": "price_of", "input_schema": market.parameters("stall", "day")},
    ]
    while True:
        answer = client.messages.create(
            model=market.MODEL, max_tokens=500, system=market.SYSTEM, messages=messages, tools=tools
        )
        messages.append({"role": "assistant", "content": [part.model_dump() for part in answer.content]})
        calls = [part for part in answer.content if part.type == "tool_use"]
        if not calls:
            return
        results = []
        for call in calls:
            result = {"type": "tool_result", "tool_use_id": call.id}
            try:
                result["content"] = run_tool(call.name, call.input)
            except TimeoutError as error:
                result |= {"content": str(error), "is_error": True}
            results.append(result)
        messages.append({"role": "user", "content": results})


def openai_loop(client, run_tool) -> None:
    """An agent of one's own on OpenAI's client."""
    messages = [{"role": "system", "content": market.SYSTEM}, {"role": "user", "content": market.ASKED}]
    tools = [
        {"type": "function", "function": {"name": name, "parameters": market.parameters(*given)}}
        for name, given in (("find_stall", ["stall"]), ("price_of", ["stall", "day"]))
    ]
    while True:
        answer = client.chat.completions.create(model=market.MODEL, messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            try:
                result = run_tool(call.function.name, json.loads(call.function.arguments))
            except TimeoutError as error:
                result = f"error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def plain(name: str, args: dict) -> str:
    return getattr(market, name)(**args)


def openinference_openai_agents(path: Path) -> None:
    """openai-agents==0.24.0 openinference-instrumentation-openai-agents==2.6.0"""
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool, set_trace_processors
    from openai import AsyncOpenAI
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    made = provider(path)
    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=made)
    client = AsyncOpenAI(base_url=f"{market.serve()}/v1", api_key="none")
    config = RunConfig(model_provider=OpenAIProvider(openai_client=client))
    tools = [function_tool(market.find_stall), function_tool(market.price_of)]
    agent = Agent(name="market_agent", instructions=market.SYSTEM, tools=tools, model=market.MODEL)
    print(asyncio.run(Runner.run(agent, market.ASKED, run_config=config)).final_output)
    made.shutdown()


def openinference_anthropic(path: Path) -> None:
    """anthropic==2.14.0 openinference-instrumentation-anthropic==3.1.0 openinference-instrumentation==0.1.72"""
    from anthropic import Anthropic
    from openinference.instrumentation import OITracer, TraceConfig
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    made = provider(path)
    AnthropicInstrumentor().instrument(tracer_provider=made)
    tracer = OITracer(made.get_tracer("market"), config=TraceConfig())
    tools = {"find_stall": tracer.tool(market.find_stall), "price_of": tracer.tool(market.price_of)}
    agent = tracer.agent(name="market_agent")(
        lambda _: anthropic_loop(client, lambda name, args: tools[name](**args))
    )
    client = Anthropic(base_url=market.serve(), api_key="none")
    agent(market.ASKED)
    made.shutdown()


def openinference_langchain(path: Path) -> None:
    """langchain==1.5.2 langgraph==1.2.24 langchain-openai==1.7.4 openinference-instrumentation-langchain==0.1.80"""
    from openinference.instrumentation.langchain import LangChainInstrumentor

    made = provider(path)
    LangChainInstrumentor().instrument(tracer_provider=made)
    langchain_agent()
    made.shutdown()


def langchain_agent() -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import wrap_tool_call
    from langchain_core.messages import ToolMessage
    from langchain_openai import ChatOpenAI

    @wrap_tool_call
    def caught(request, handler):
        try:
            return handler(request)
        except TimeoutError as error:
            return ToolMessage(content=str(error), tool_call_id=request.tool_call["id"], status="error")

    model = ChatOpenAI(model=market.MODEL, base_url=f"{market.serve()}/v1", api_key="none")
    agent = create_agent(
        model, [market.find_stall, market.price_of], system_prompt=market.SYSTEM, middleware=[caught]
    )
    print(agent.invoke({"messages": [("user", market.ASKED)]})["messages"][-1].content)


def langsmith(path: Path) -> None:
    """langsmith==0.15.1 langchain==1.5.2 langgraph==1.2.24 langchain-openai==1.7.4"""
    os.environ |= {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_API_KEY": "none",
        "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
    }
    made = provider(path)
    langchain_agent()
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
    made.force_flush()
    made.shutdown()


def openllmetry(path: Path) -> None:
    """traceloop-sdk==0.47.5 openai==1.109.1 opentelemetry-sdk==1.37.0"""
    from openai import OpenAI
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    from traceloop.sdk import Traceloop
    from traceloop.sdk.decorators import agent, tool, workflow

    os.environ["TRACELOOP_METRICS_ENABLED"] = "false"
    Traceloop.init(app_name="market", exporter=exporter(path), disable_batch=True, telemetry_enabled=False)
    OpenAIInstrumentor().instrument()
    tools = {
        "find_stall": tool(name="find_stall")(market.find_stall),
        "price_of": tool(name="price_of")(market.price_of),
    }
    client = OpenAI(base_url=f"{market.serve()}/v1", api_key="none")

    @agent(name="market_agent")
    def ask(question: str) -> None:
        openai_loop(client, lambda name, args: tools[name](**args))

    workflow(name="market")(ask)(market.ASKED)


def openllmetry_anthropic(path: Path) -> None:
    """opentelemetry-instrumentation-anthropic==0.47.5 anthropic==0.125.0"""
    from anthropic import Anthropic
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    made = provider(path)
    AnthropicInstrumentor().instrument(tracer_provider=made)
    client = Anthropic(base_url=market.serve(), api_key="none")
    with made.get_tracer("market").start_as_current_span("ask"):
        anthropic_loop(client, plain)
    made.shutdown()


def log_events(path: Path) -> None:
    """opentelemetry-instrumentation-openai-v2==2.1b0 openai==1.109.1 opentelemetry-sdk==1.37.0"""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    from openai import OpenAI
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    made, logger = provider(path), logs(path)
    OpenAIInstrumentor().instrument(tracer_provider=made, logger_provider=logger)
    client = OpenAI(base_url=f"{market.serve()}/v1", api_key="none")
    with made.get_tracer("market").start_as_current_span("ask"):
        openai_loop(client, plain)
    logger.shutdown()
    made.shutdown()


def pydantic_agent(path: Path, version: int) -> None:
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.agent import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def price_of(stall: int, day: str) -> str:
        """What a stall costs on a day."""
        try:
            return market.price_of(stall, day)
        except TimeoutError as error:
            raise ModelRetry(str(error)) from error

    made = provider(path)
    model = OpenAIChatModel(
        market.MODEL, provider=OpenAIProvider(base_url=f"{market.serve()}/v1", api_key="none")
    )
    agent = Agent(
        model,
        name="market_agent",
        system_prompt=market.SYSTEM,
        tools=[market.find_stall, price_of],
        retries=2,
        instrument=InstrumentationSettings(tracer_provider=made, version=version),
    )
    print(agent.run_sync(market.ASKED).output)
    made.shutdown()


def pydantic_ai_1(path: Path) -> None:
    """pydantic-ai-slim[openai]==1.0.18"""
    pydantic_agent(path, 1)


def pydantic_ai_2(path: Path) -> None:
    """pydantic-ai-slim[openai]==1.0.18"""
    pydantic_agent(path, 2)


def strands(path: Path) -> None:
    """strands-agents==1.62.0 openai==2.54.0"""
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    made = provider(path)
    model = OpenAIModel(
        client_args={"base_url": f"{market.serve()}/v1", "api_key": "none"},
        model_id=market.MODEL,
        stream=False,
    )
    agent = Agent(
        name="market_agent",
        model=model,
        system_prompt=market.SYSTEM,
        tools=[tool(market.find_stall), tool(market.price_of)],
        callback_handler=None,
    )
    print(agent(market.ASKED))
    made.shutdown()


def google_adk(path: Path) -> None:
    """google-adk==1.18.0"""
    from google.adk.agents import LlmAgent
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    os.environ |= {"GOOGLE_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": market.serve()}
    made = provider(path)

    def price_of(stall: int, day: str) -> str:
        """What a stall costs on a day."""
        return market.price_of(stall, day)

    def caught(tool, args, tool_context, error):
        return {"error": str(error)}

    async def ask() -> None:
        agent = LlmAgent(
            name="market_agent",
            model="gemini-2.5-flash",
            instruction=market.SYSTEM,
            tools=[market.find_stall, price_of],
            on_tool_error_callback=caught,
        )
        runner = InMemoryRunner(agent, app_name="market")
        await runner.session_service.create_session(app_name="market", user_id="u1", session_id="s1")
        asked = types.Content(role="user", parts=[types.Part(text=market.ASKED)])
        async for event in runner.run_async(user_id="u1", session_id="s1", new_message=asked):
            if event.is_final_response():
                print(event.content.parts[0].text)

    asyncio.run(ask())
    made.shutdown()


def claude(path: Path, **settings: str) -> None:
    """Claude Code 2.1.197 (`npm install @anthropic-ai/claude-code` in the folder CLAUDE_CODE), its home an empty folder."""
    import subprocess
    import tempfile

    from agenteval_otel.receiver import Receiver

    with tempfile.TemporaryDirectory() as home, Receiver(path, ("127.0.0.1", 0), max_bytes=10**8) as receiver:
        work = Path(home, "work")
        work.joinpath("prices").mkdir(parents=True)
        work.joinpath("stall-14.json").write_text(market.find_stall(14))
        work.joinpath("prices", "14.json").write_text(json.dumps({"stall": 14, "eur": 38}))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": market.serve(),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_MODEL": market.MODEL,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
            "OTEL_LOG_USER_PROMPTS": "1",
            "OTEL_LOG_TOOL_DETAILS": "1",
            "OTEL_LOG_TOOL_CONTENT": "1",
            **{name: value.format(receiver.endpoint) for name, value in settings.items()},
        }
        program = Path(os.environ["CLAUDE_CODE"], "node_modules", ".bin", "claude")
        command = [program, "-p", market.ASKED, "--allowedTools", "Bash", "Agent"]
        subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, check=True)


TRACING = {"CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1", "OTEL_TRACES_EXPORTER": "otlp"}


def claude_code(path: Path) -> None:
    """Spans and log events."""
    claude(path, **TRACING)


def claude_code_logs(path: Path) -> None:
    """Log events alone."""
    claude(path)


def claude_code_detailed(path: Path) -> None:
    """With all that it can tell, and a subagent."""
    market.delegate()
    claude(path, **TRACING, ENABLE_BETA_TRACING_DETAILED="1", BETA_TRACING_ENDPOINT="{}")


def openinference_handoff(path: Path) -> None:
    """As openinference_openai_agents; one agent hands on to another."""
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool, set_trace_processors
    from openai import AsyncOpenAI
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    made = provider(path)
    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=made)
    market.delegate()
    client = AsyncOpenAI(base_url=f"{market.serve()}/v1", api_key="none")
    config = RunConfig(model_provider=OpenAIProvider(openai_client=client))
    prices = Agent(name="price_list", tools=[function_tool(market.price_of)], model=market.MODEL)
    agent = Agent(name="market_agent", instructions=market.SYSTEM, handoffs=[prices], model=market.MODEL)
    print(asyncio.run(Runner.run(agent, market.ASKED, run_config=config)).final_output)
    made.shutdown()


def mixed(path: Path) -> None:
    """As openinference_openai_agents, and opentelemetry-instrumentation-genai-openai-agents, -genai-openai==1.3b0"""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool
    from openai import AsyncOpenAI
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor as OpenInference
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
    from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor

    made = provider(path)
    OpenAIInstrumentor().instrument(tracer_provider=made)
    OpenAIAgentsInstrumentor().instrument(tracer_provider=made, disable_openai_trace_export=True)
    OpenInference().instrument(tracer_provider=made, exclusive_processor=False)
    client = AsyncOpenAI(base_url=f"{market.serve()}/v1", api_key="none")
    config = RunConfig(model_provider=OpenAIProvider(openai_client=client))
    tools = [function_tool(market.find_stall), function_tool(market.price_of)]
    agent = Agent(name="market_agent", instructions=market.SYSTEM, tools=tools, model=market.MODEL)
    with made.get_tracer("market").start_as_current_span("request"):
        print(asyncio.run(Runner.run(agent, market.ASKED, run_config=config)).final_output)
    made.shutdown()


def cleaned(path: Path) -> None:
    """Leave out what is of this machine, and what vendors wrote."""
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        for group in (*document.get("resourceSpans", ()), *document.get("resourceLogs", ())):
            given = group["resource"].get("attributes", ())
            group["resource"] = {"attributes": [each for each in given if each["key"] == "service.name"]}
            for scope in (*group.get("scopeSpans", ()), *group.get("scopeLogs", ())):
                if "logRecords" in scope:
                    scope["logRecords"] = [each for each in scope["logRecords"] if _is_kept(each)]
                for holder in (*scope.get("spans", ()), *scope.get("logRecords", ())):
                    for each in (holder, *holder.get("events", ())):
                        _clean(each)
        kept.append(json.dumps(document, separators=(",", ":"), ensure_ascii=False))
    path.write_text("\n".join([*kept, ""]), encoding="utf-8")


def _clean(holder: dict) -> None:
    attributes = [each for each in holder.get("attributes", ()) if not each["key"].startswith(LEFT_OUT)]
    for each in attributes:
        if each["key"] == "exception.message":
            each["value"]["stringValue"] = each["value"]["stringValue"].partition("Traceback")[0]
    holder["attributes"] = attributes
    if told := holder.get("status", {}).get("message"):
        holder["status"]["message"] = told.partition("Traceback")[0]


def _is_kept(log: dict) -> bool:
    named = [each["value"]["stringValue"] for each in log["attributes"] if each["key"] == "event.name"]
    return str(log.get("eventName") or "".join(named)).startswith(EVENTS)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = HERE / f"{name.replace('_', '-')}.jsonl"
        file.unlink(missing_ok=True)
        globals()[name](file)
        cleaned(file)
        print(file.name, file.stat().st_size)
