package api

import "encoding/json"

// Area is a part of the viewer, in per cent of the room that panes have.
type Area struct {
	X int `json:"x" minimum:"0" maximum:"100" doc:"left edge"`
	Y int `json:"y" minimum:"0" maximum:"100" doc:"upper edge"`
	W int `json:"w" minimum:"1" maximum:"100" doc:"width"`
	H int `json:"h" minimum:"1" maximum:"100" doc:"height"`
}

// Arrange asks the viewers that are open to change how sessions stand in them. The focus stays where the person
// has it, but for focus.
type Arrange struct {
	Do      string `json:"do" enum:"place,focus,close,apply" doc:"place: show a session in a pane; focus: go to it; close: take its pane away; apply: stand as a layout has it. Only a person may focus and apply"`
	Session string `json:"session,omitempty" maxLength:"128" doc:"which one; id, name or prefix"`
	Beside  string `json:"beside,omitempty" maxLength:"128" doc:"for place: the session whose pane is split; default: that with the focus"`
	Below   bool   `json:"below,omitempty" doc:"for place: below it; default: to its right"`
	Tab     string `json:"tab,omitempty" maxLength:"128" doc:"for place: name of the tab, made behind the others if there is none; default: the tab of beside, else the one that is shown"`
	Float   bool   `json:"float,omitempty" doc:"for place: in a floating pane, over the others of its tab"`
	Pinned  bool   `json:"pinned,omitempty" doc:"for place: in a floating pane that is over all tabs"`
	Stacked bool   `json:"stacked,omitempty" doc:"for place: in one place with beside, of which one is open; the others are a title each"`
	Area    *Area  `json:"area,omitempty" doc:"for place with float or pinned; default: in the middle"`
	// Layout is as the viewer keeps it.
	Layout json.RawMessage `json:"layout,omitempty" doc:"for apply: as 'longterm layout dump' prints it"`
	// Order is set in the event that viewers get.
	Order string `json:"order,omitempty" maxLength:"64" doc:"in the event arrange: what viewers answer to (POST /arrange/ORDER); ignored in requests"`
}

// OrderAnswer is what a viewer says to how it was to change.
type OrderAnswer struct {
	Why string `json:"why,omitempty" maxLength:"1024" doc:"why it did not; empty: it did"`
}

// Arranged answers who asked viewers to change something.
type Arranged struct {
	OK bool `json:"ok"`
	// Viewers is missing in what an older daemon answers.
	Viewers *int `json:"viewers,omitempty" doc:"how many viewers are open that show sessions; where there are none, nothing was changed"`
}
