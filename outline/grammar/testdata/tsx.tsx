import React, { useState } from "react";
import type { FC, ReactNode } from "react";
import styles from "./panel.module.css";

/** What a panel gets. */
interface PanelProps<T> {
  title: string;
  items: T[];
  render?: (item: T) => ReactNode;
  onClose(): void;
}

type State = {
  open: boolean;
  count: number;
};

const initial: State = { open: false, count: 0 };

/**
 * Shows a title with a list.
 */
export function Panel<T extends { id: string }>({ title, items, render, onClose }: PanelProps<T>) {
  const [state, setState] = useState<State>(initial);
  const close = () => {
    setState(initial);
    onClose();
  };

  function toggle(event: React.MouseEvent) {
    setState((old) => ({ ...old, open: !old.open }));
  }

  return (
    <section className={styles.panel} onClick={toggle}>
      <h1>{title}</h1>
      {items.map((item) => (
        <Row key={item.id} onSelect={() => close()}>
          {render ? render(item) : item.id}
        </Row>
      ))}
      {state.open && (
        <button
          onClick={function handleClick() {
            close();
          }}
        >
          Close
        </button>
      )}
      <></>
    </section>
  );
}

const Row: FC<{ children: ReactNode; onSelect: () => void }> = ({ children, onSelect }) => (
  <li onClick={onSelect}>{children}</li>
);

export const Fancy = React.memo(function Fancy({ label }: { label: string }) {
  const format = (text: string) => text.toUpperCase();
  return <b>{format(label)}</b>;
});

export const Input = React.forwardRef<HTMLInputElement, { name: string }>((props, ref) => {
  return <input {...props} ref={ref} />;
});

export class Boundary extends React.Component<{ children: ReactNode }, { failed: boolean }> {
  state = { failed: false };
  static displayName = "Boundary";

  static getDerivedStateFromError() {
    return { failed: true };
  }

  componentDidCatch(error: Error) {
    console.error(error);
  }

  private retry = () => {
    this.setState({ failed: false });
  };

  render() {
    return this.state.failed ? <button onClick={this.retry}>Retry</button> : this.props.children;
  }
}

export function useCounter(start = 0) {
  const [count, setCount] = useState(start);
  const increment = React.useCallback(() => {
    setCount((n) => n + 1);
  }, []);
  return { count, increment, reset: () => setCount(start) };
}

function withLogging<P extends object>(Inner: React.ComponentType<P>) {
  return class Logged extends React.Component<P> {
    componentDidMount() {
      console.log("mounted");
    }
    render() {
      return <Inner {...this.props} />;
    }
  };
}

export default function App() {
  const { count, increment } = useCounter();
  const rows = [1, 2, 3].map((n) => <Row key={n} onSelect={() => {}}>{n}</Row>);
  return (
    <Boundary>
      <Panel
        title={`Count: ${count}`}
        items={[{ id: "a" }]}
        render={(item) => <i>{item.id}</i>}
        onClose={increment}
      />
      {rows}
    </Boundary>
  );
}

enum Size {
  Small = "s",
  Large = "l",
}

export const sizes: Record<Size, number> = {
  [Size.Small]: 1,
  [Size.Large]: 2,
};

const generic = <T,>(value: T): T => value;

export const Context = React.createContext<State | null>(null);

export const Provider = ({ children }: { children: ReactNode }) => {
  const value = React.useMemo(() => initial, []);
  return <Context.Provider value={value}>{children}</Context.Provider>;
};

Provider.displayName = "Provider";
Panel.Row = Row;
Panel.empty = () => <p>Nothing</p>;

export const LoggedPanel = withLogging(Panel as any);

export function useLatest<T>(value: T) {
  const ref = React.useRef(value);
  ref.current = value;
  return ref;
}
