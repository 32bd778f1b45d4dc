package confine

// Observe has what a program does written down, and does not keep it from anything.
type Observe struct {
	// File gets a line of JSON for each thing that was done (Observed), and one that is only "end".
	File  string `json:"file"`
	Stage stage  `json:"stage,omitempty"`
}

// Observed is something that an observed program did, or tried to.
type Observed struct {
	Did  string `json:"did"`            // exec, read, write, make, connect, unix
	Path string `json:"path,omitempty"` // absolute, as the program gave it
	Host string `json:"host,omitempty"` // of connect: address and port
}
