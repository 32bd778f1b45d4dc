package vterm

// EventQueueMax is the largest number of undelivered events.
const EventQueueMax = 4096

// EventKind is the kind of an Event.
type EventKind uint8

// Events. The comment names the fields of Event in use and the sequence.
const (
	EventNone      EventKind = iota
	EventBell                // BEL
	EventTitle               // Text: OSC 0, 2
	EventIconLabel           // Text: OSC 0, 1
	EventCwd                 // Text: path or file URL as sent; Name: "7", "9;9", "1337", "633"
	EventMark                // Name: "A".."D", "E", "P" …; Text: the rest of OSC 133 or 633; Num: the OSC number
	EventNotify              // Name: title; Text: body: OSC 9, 99, 777
	EventProgress            // Name: "none","normal","error","indeterminate","paused"; Num: percent: OSC 9;4
	EventClipboard           // Name: selection; Text: decoded data: OSC 52 set
	EventUserVar             // Name, Text: OSC 1337 SetUserVar
	EventContext             // Text: OSC 3008 payload
	EventModes               // the Modes changed in a relevant way
	EventAltScreen           // Num: 1 entered, 0 left
	EventResize              // Num: cols<<16 | rows: requested size (CSI 8 t, DECCOLM)
	EventSync                // Num: 1 started, 0 ended: mode 2026
	EventWindow              // Num: requested CSI t operation, informational
	EventReset               // RIS
	EventDropped             // Num: events dropped because the queue was full; Name "string": one control string that was too long
)

// Event reports something that a program sent other than text. At is the number of bytes written to the engine up to
// and including its sequence, so that the owner can order events and output.
type Event struct {
	Kind EventKind
	At   uint64
	Name string
	Text string
	Num  int
	// Line and Col are the cursor position. Line is the stable id of the row, as in History: History.FirstID +
	// History.Len + screen row.
	Line uint64
	Col  int
}

// eventQueue holds events until the owner fetches them, and counts the written bytes.
type eventQueue struct {
	written    uint64 // bytes of all earlier Writes
	at         int    // consumed bytes of the current Write
	events     []Event
	eventsLost int
}

// emit queues an event with the current position.
func (t *Terminal) emit(e Event) {
	if len(t.events) >= EventQueueMax {
		t.eventsLost++
		return
	}
	e.At = t.written + uint64(t.at)
	e.Line = t.scrollback.EndID() + uint64(t.cur.Row)
	e.Col = t.cur.Col
	t.events = append(t.events, e)
}

// Events implements Engine.
func (t *Terminal) Events(dst []Event) []Event {
	dst = append(dst, t.events...)
	if t.eventsLost > 0 {
		dst = append(dst, Event{Kind: EventDropped, Num: t.eventsLost, At: t.written})
	}
	clear(t.events)
	t.events, t.eventsLost = t.events[:0], 0
	return dst
}

// Written implements Engine.
func (t *Terminal) Written() uint64 { return t.written }
