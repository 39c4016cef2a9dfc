# Run at build time: writes OUTPUT, a header in which NAME is the text of INPUT.
file(READ ${INPUT} text)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [==[#pragma once
inline constexpr char @NAME@[] = R"EMBEDDED(@text@)EMBEDDED";
]==])
