package api

// Sandbox describes a session's sandbox: its limits and the mechanism.
type Sandbox struct {
	Profile      string   `json:"profile"`
	Level        string   `json:"level" enum:"landlock,userns,bwrap,docker,podman,seatbelt" doc:"enforcing mechanism"`
	Network      string   `json:"network" enum:"off,on,hosts"`
	Hosts        []string `json:"hosts,omitempty" doc:"allowed hosts"`
	Summary      string   `json:"summary,omitempty" doc:"summary in one line"`
	Holds        []string `json:"holds" doc:"enforced restrictions"`
	NotHeld      []string `json:"not_held" doc:"restrictions that this level cannot enforce"`
	OnDifference string   `json:"on_difference,omitempty" enum:"deny,ask" doc:"treatment of hosts that are not listed, and of programs if some are listed"`
}

// NetworkAsk is a request whether a session's programs may connect to a host.
type NetworkAsk struct {
	ID   string `json:"id,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"chosen by the caller: a request with the same id is the same request"`
	Host string `json:"host" minLength:"1" maxLength:"253"`
	Port int    `json:"port" minimum:"1" maximum:"65535"`
}
