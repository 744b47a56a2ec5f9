defmodule Store.Error do
  @moduledoc false
  defexception [:message, code: 500]
end

defprotocol Store.Size do
  @doc "Returns the size."
  def size(data)
end

defimpl Store.Size, for: Map do
  def size(map), do: map_size(map)
end

defmodule Store.Bucket do
  @moduledoc """
  One bucket of items.

  def not_a_function(x)
  """

  use GenServer
  import Store.Helpers, only: [check: 1]
  alias Store.{Item, Key}
  alias Store.Error, as: Failure
  require Logger

  @behaviour Store.Backend
  @limit 100
  @type t :: %__MODULE__{name: String.t(), items: list()}
  @typep key :: atom()
  @opaque handle :: reference()

  defstruct [:name, items: [], limit: @limit]

  @callback open(path :: String.t()) :: {:ok, t()} | :error
  @macrocallback wrap(Macro.t()) :: Macro.t()

  defguard is_small(n) when n < 10
  defguardp is_tiny(n) when n < 2

  # Starts a bucket.
  @doc """
  Starts a bucket.

  More about it.
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts, name: __MODULE__)
  end

  @impl true
  def init(opts) do
    {:ok, %{opts: opts}}
  end

  @impl GenServer
  def handle_call({:get, key}, _from, state) do
    {:reply, Map.get(state, key), state}
  end

  def handle_call(:size, _from, state), do: {:reply, map_size(state), state}

  def get(bucket, key) when is_atom(key) do
    fun = fn x -> x end
    fun.(bucket[key])
  end

  def get(_bucket, _key), do: nil

  def empty?(%__MODULE__{items: []}), do: true
  def empty?(_), do: false

  def clear!(bucket) do
    case bucket do
      nil -> :error
      _ -> :ok
    end
  end

  def a + b, do: add(a, b)

  defp add(a, b) do
    a |> Kernel.+(b)
  end

  defp no_arguments, do: :ok

  defmacro unless(condition, do: block) do
    quote do
      if !unquote(condition), do: unquote(block)
    end
  end

  defmacrop internal(x) do
    x
  end

  defdelegate reverse(list), to: Enum
  defdelegate other(a, b), to: Store.Other, as: :another

  defmodule Nested do
    def deep, do: 1

    defp hidden(x) do
      x
    end
  end

  if Mix.env() == :test do
    def debug(state), do: state
  end

  for name <- [:a, :b] do
    def unquote(name)(), do: unquote(name)
  end

  defoverridable init: 1
end

defmodule Store.Record do
  require Record
  Record.defrecord(:user, name: "", age: 0)

  defstruct name: "", tags: []
end

defmodule StoreTest do
  use ExUnit.Case, async: true

  setup do
    {:ok, bucket: start_supervised!(Store.Bucket)}
  end

  describe "get/2" do
    test "returns a value", %{bucket: bucket} do
      assert Store.Bucket.get(bucket, :a) == nil
    end

    test "fails for a missing key" do
      assert true
    end
  end
end

defmodule Store.Application do
  use Application

  @impl true
  def start(_type, _args) do
    children = [Store.Bucket]
    Supervisor.start_link(children, strategy: :one_for_one)
  end
end
