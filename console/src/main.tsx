import { render } from "preact";
import { App } from "./app";
import { applyTheme } from "./store/theme";
import "./style.css";

applyTheme();
render(<App />, document.getElementById("app")!);
