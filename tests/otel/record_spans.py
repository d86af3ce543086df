"""Makes tests/otel/data/openai-agents.jsonl: spans as a real instrumentation library writes them.

Real are the OpenAI Agents SDK and the official OpenTelemetry instrumentations of it and of the OpenAI client, with
OpenTelemetry's own OTLP JSON exporter. Not real is the model: a server on this machine that answers by a script. The
file is what the exporter wrote, byte for byte. Ids and times differ each time that this runs.

    python -m venv /tmp/spans && /tmp/spans/bin/pip install \\
        openai-agents==0.24.0 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1 \\
        opentelemetry-instrumentation-genai-openai==1.3b0 opentelemetry-instrumentation-genai-openai-agents==1.3b0
    /tmp/spans/bin/python tests/otel/record_spans.py
"""
# mypy: ignore-errors
# ruff: noqa: T201

import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

DATA = Path(__file__).parent / "data" / "openai-agents.jsonl"


def call(name: str, number: int, **arguments: object) -> dict:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


SCRIPT = [
    [call("web_search", 1, query="AI news today")],
    [
        call("web_fetch", 2, url="https://news.example.com/a"),
        call("web_fetch", 3, url="https://news.example.com/b"),
    ],
    [call("web_fetch", 4, url="https://news.example.com/b")],
    """- Lab A released model X (https://news.example.com/a)
- Chip maker B's revenue rose 41% (https://news.example.com/b)""",
    [call("get_weather", 5, city="Bremen")],
    "It is 7 degrees in Bremen.",
]
"""What the model answers, in order: calls of tools, or a text."""


class Model(BaseHTTPRequestHandler):
    """The Chat Completions API, as far as the client needs it."""

    answers = iter(enumerate(SCRIPT, 1))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        number, answer = next(self.answers)
        message = {"role": "assistant", "content": answer}
        if isinstance(answer, list):
            message = {"role": "assistant", "content": None, "tool_calls": answer}
        body = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1795294381,
            "model": "scripted-model-1",
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if isinstance(answer, list) else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 100 + number,
                "completion_tokens": 20 + number,
                "total_tokens": 120 + 2 * number,
            },
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@function_tool
def web_search(query: str) -> str:
    """Search the web."""
    return json.dumps({"results": ["https://news.example.com/a", "https://news.example.com/b"]})


tries = {"https://news.example.com/b": 0}


@function_tool
def web_fetch(url: str) -> str:
    """Read a page."""
    if url in tries:
        tries[url] += 1
        if tries[url] == 1:
            raise TimeoutError("the site did not answer within 10 s")
        return "Chip maker B: revenue rose 41% to $58bn."
    return "Lab A released model X."


@function_tool
def get_weather(city: str) -> dict[str, object]:
    """The weather in a city."""
    return {"city": city, "degrees": 7}


async def main() -> None:
    """Run two agents, one after the other."""
    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    DATA.unlink(missing_ok=True)
    provider = TracerProvider(resource=Resource({"service.name": "newsroom"}))
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(DATA)))
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider, disable_openai_trace_export=True)
    client = AsyncOpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
    model = OpenAIChatCompletionsModel(model="scripted-model-1", openai_client=client)
    news = Agent(
        name="reporter",
        instructions="Answer with sourced bullets.",
        tools=[web_search, web_fetch],
        model=model,
    )
    weather = Agent(name="weatherman", instructions="Be brief.", tools=[get_weather], model=model)
    for agent, asked, group in (
        (news, "What is new in AI today?", "newsroom"),
        (weather, "How warm is it in Bremen?", "kitchen"),
    ):
        config = RunConfig(workflow_name=f"{agent.name} run", group_id=group)
        print((await Runner.run(agent, asked, run_config=config)).final_output)
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
