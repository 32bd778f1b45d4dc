// What few need and is loaded when they do: other hosts, share links, devices with notifications, and sessions through a relay. They are smaller packed in one.
export { Others } from './hosts.js';
export { devices } from './devices.js';
export { share } from './share.js';
export { Tunnel } from './relay.js';
