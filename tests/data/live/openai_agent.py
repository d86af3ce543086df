"""A shop's assistant, made with the OpenAI Agents SDK, that asks for chat completions or, without that word, responses."""

import json
import sys
from pathlib import Path

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from agents.tracing import set_tracing_disabled
from openai import AsyncOpenAI


@function_tool  # type: ignore[untyped-decorator]
def lookup_order(order_id: str) -> str:
    """Look an order up."""
    return f"order {order_id}: {Path('answer.txt').read_text()}"


set_tracing_disabled(True)
kind = OpenAIChatCompletionsModel if "chat" in sys.argv else OpenAIResponsesModel
agent = Agent(
    name="shop",
    instructions=Path("CLAUDE.md").read_text(),
    tools=[lookup_order],
    model=kind("gpt-test", AsyncOpenAI(max_retries=0)),
)
asked = json.load(sys.stdin)["scenario"]["input_messages"][-1]["content"]
print(Runner.run_sync(agent, asked).final_output)
