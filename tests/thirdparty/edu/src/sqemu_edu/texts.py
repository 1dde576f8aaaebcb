"""What the ids of this package mean, for `sqemu explain`."""

from __future__ import annotations

EXPLANATIONS = {
    "edu.not-patched": "A kernel of the edu chip was fetched before its patch came.\n"
    "do: Put more idle entries before it (policy nop_count).",
    "edu.no-kernel": "An entry of the edu chip points at no kernel.\ndo: Compile and load the graph again.",
    "edu.no-function": "A tile entry names an AI CPU function that no plugin has.\ndo: Load its plugin.",
    "edu.no-model": "A start entry names a model that does not exist.\ndo: Load the model into this device.",
    "edu.no-tiling": "An operator has no tiling function for the AI CPU.\ndo: Load its plugin.",
    "edu.tiling": "A tiling function refused its question.\ndo: Check shapes and values.",
    "edu.patch-key": "A tiling function chose a key that the kernel does not have.\n"
    "do: Correct the tiling function; policy edu_unknown_key=keep_old keeps the entry.",
    "edu.patch-target": "A patch names an entry that is in no ring.\ndo: Compile and load the graph again.",
    "edu.launch": "EduStripe was launched with a key or tiling data of something else.\ndo: Load the graph again.",
    "edu.host-tiling": "The edu chip has no host scheduling.\ndo: Let the operator sink.",
    "edu.task-type": "The loader of the edu chip does not know a task of the blob.\ndo: Compile the graph again.",
    "edu.blob": "The blob is not one for this chip, or it is damaged.\ndo: Compile the graph for edu-one.",
    "edu.flag": "An entry names a flag that the chip does not have.\ndo: Use a number below its max_events.",
    "edu.line": "A file that begins with edu-stripe, goes on in another way.\ndo: Write edu-stripe,NAME,ELEMENTS.",
    "edu.short-input": "An EduStripe has fewer elements than the chip has cores.\ndo: Nothing, if that is meant.",
}
