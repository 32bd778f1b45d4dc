package vterm

// EventQueueMax bounds the events an engine holds until they are drained.
const EventQueueMax = 4096

// EventKind says what happened.
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
	EventModes               // the Modes changed in a way readers may care about
	EventAltScreen           // Num: 1 entered, 0 left
	EventResize              // Num: cols<<16 | rows: the program asked for a size (CSI 8 t, DECCOLM)
	EventSync                // Num: 1 begun, 0 ended: mode 2026
	EventWindow              // Num: CSI t operation the program asked for, informational
	EventReset               // RIS
	EventLost                // Num: events dropped because the queue was full; Name "string": one control string that was too long
)

// Event is something a program said that is not text. At is the number of bytes
// written to the engine up to and including the sequence, so that its owner can tell
// which output lies before and which after it.
type Event struct {
	Kind EventKind
	At   uint64
	Name string
	Text string
	Num  int
	// Line and Col are where the cursor stood: Line is the stable id of the row, as
	// History counts them (History.FirstID + History.Len + screen row).
	Line uint64
	Col  int
}

// eventQueue holds events until the owner takes them, and counts bytes.
type eventQueue struct {
	written    uint64 // bytes of all Writes before this one
	at         int    // bytes of this Write consumed
	events     []Event
	eventsLost int
}

// emit queues an event with the place where it happened.
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
		dst = append(dst, Event{Kind: EventLost, Num: t.eventsLost, At: t.written})
	}
	clear(t.events)
	t.events, t.eventsLost = t.events[:0], 0
	return dst
}

// Written implements Engine.
func (t *Terminal) Written() uint64 { return t.written }
