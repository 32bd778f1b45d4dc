// What few need and is loaded when they do: other hosts, and sessions through a relay. They are smaller packed in one.
export { Others } from './hosts.js';
export { Tunnel } from './relay.js';
