//! SQL over the engine: parse, bind, plan, execute.
